/** A pinch on a trackpad comes as a wheel with the Control key. */
export function wheelFactor({ deltaY, deltaMode, ctrlKey }) {
  const pixels = deltaY * [1, 18, 400][deltaMode]
  const bounded = Math.max(-300, Math.min(300, pixels))
  return Math.exp(-bounded * (ctrlKey && Math.abs(bounded) < 50 ? 0.01 : 0.002))
}
