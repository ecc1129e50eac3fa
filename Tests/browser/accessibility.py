"""What the page's tests ask of axe."""

from axe_playwright_python.sync_playwright import Axe
from browser import Visit

# axe itself asks for an inline style, which the page's policy refuses it.
AXE_OWN = ["Applying inline style"]


def axe_violations(visit: Visit, within: str | None = None) -> list[str]:
    """The violations that axe finds on the page, or within the elements of a selector, each with its elements."""
    results = Axe().run(visit.page, context=within, options={"resultTypes": ["violations"]})
    return [f"{violation['id']}: {[node['html'][:200] for node in violation['nodes']]}" for violation in results.response["violations"]]
