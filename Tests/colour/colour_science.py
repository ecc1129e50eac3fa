"""Colour arithmetic of the reference side: sRGB, CIELAB and CIEDE2000, from their formulas."""

import numpy as np

# sRGB to XYZ under D50, Bradford-adapted, as ICC's sRGB profiles have it.
SRGB_TO_XYZ = np.array([[0.4360747, 0.3850649, 0.1430804],
                        [0.2225045, 0.7168786, 0.0606169],
                        [0.0139322, 0.0971045, 0.7141733]])
WHITE = np.array([0.9642, 1.0, 0.8249])


def light(srgb):
    """Linear light of sRGB numbers 0…1 (IEC 61966-2-1)."""
    srgb = np.asarray(srgb, float)
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def numbers(linear):
    """sRGB numbers 0…1 of linear light, clipped."""
    linear = np.clip(linear, 0, 1)
    return np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)


def xyz_to_srgb(xyz):
    """8-bit sRGB of XYZ under D50."""
    return np.rint(255 * numbers(xyz @ np.linalg.inv(SRGB_TO_XYZ).T)).astype(np.uint8)


def lab(srgb):
    """CIELAB of 8-bit sRGB; gray is taken as equal red, green and blue."""
    srgb = np.asarray(srgb, float)
    if srgb.ndim == 2:
        srgb = np.stack([srgb] * 3, -1)
    f = light(srgb / 255) @ SRGB_TO_XYZ.T / WHITE
    f = np.where(f > 216 / 24389, np.cbrt(f), (24389 / 27 * f + 16) / 116)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], -1)


def lab_to_xyz(colours):
    """XYZ under D50 of CIELAB."""
    y = (colours[..., 0] + 16) / 116
    f = np.stack([y + colours[..., 1] / 500, y, y - colours[..., 2] / 200], -1)
    return WHITE * np.where(f > 6 / 29, f ** 3, (116 * f - 16) * 27 / 24389)


def ciede2000(first, second):
    """The difference of CIELAB colours (Sharma, Wu, Dalal 2005)."""
    l1, a1, b1 = np.moveaxis(first, -1, 0)
    l2, a2, b2 = np.moveaxis(second, -1, 0)
    mean = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    g = 0.5 * (1 - np.sqrt(mean ** 7 / (mean ** 7 + 25.0 ** 7)))
    a1, a2 = (1 + g) * a1, (1 + g) * a2
    c1, c2 = np.hypot(a1, b1), np.hypot(a2, b2)
    h1, h2 = np.degrees(np.arctan2(b1, a1)) % 360, np.degrees(np.arctan2(b2, a2)) % 360
    turn = (h2 - h1 + 180) % 360 - 180
    # Exactly opposite hues: the formula goes from the smaller to the larger angle.
    turn = np.where(c1 * c2 == 0, 0, turn)
    dh = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2))
    h = np.where(c1 * c2 == 0, h1 + h2, (h1 + turn / 2) % 360)
    l, c = (l1 + l2) / 2, (c1 + c2) / 2
    t = (1 - 0.17 * np.cos(np.radians(h - 30)) + 0.24 * np.cos(np.radians(2 * h))
         + 0.32 * np.cos(np.radians(3 * h + 6)) - 0.20 * np.cos(np.radians(4 * h - 63)))
    sl = 1 + 0.015 * (l - 50) ** 2 / np.sqrt(20 + (l - 50) ** 2)
    sc, sh = 1 + 0.045 * c, 1 + 0.015 * c * t
    rc = 2 * np.sqrt(c ** 7 / (c ** 7 + 25.0 ** 7))
    rt = -np.sin(np.radians(60 * np.exp(-((h - 275) / 25) ** 2))) * rc
    x, y, z = (l2 - l1) / sl, (c2 - c1) / sc, dh / sh
    return np.sqrt(np.maximum(0, x * x + y * y + z * z + rt * y * z))
