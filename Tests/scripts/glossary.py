"""The words that the project does not use, each with the word to use instead: the glossary of docs/glossary.md, for lint."""

import re

# A pattern of what is not written, and what is written instead.
WORDS = {
    r"cells?|nurser(?:y|ies)|seeds?": "sandbox, sandboxed process, zygote, supervisor",
    r"words": "metadata, text",
    r"tells?|told|telling": "report, log, notify, return",
    r"strangers?(?:['’]s)?|hostile": "untrusted",
    r"faults?|faulty": "error, defect",
    r"mends?|mended|mending|anew": "repair, rebuild, again",
    r"patience": "timeout, retry policy, backoff",
    r"pins?|pinned": "version",
    r"held up|late": "unavailable, pending",
    r"turns": "fair queueing, scheduling",
    r"guess(?:es)?": "login attempts",
    r"doors?": "access control, network security",
    r"twins?": "duplicate",
    r"kept sources?": "original",
    r"moments?": "time point",
    r"ground": "background",
    r"stamps?": "version",
    r"known images|whoever|whosoever": "catalog cache; name the component that acts",
}
FORBIDDEN = [(re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), instead) for pattern, instead in WORDS.items()]
# First words of a doc comment that make its sentence a clause without a head.
OPENERS = ("What", "Who", "Whom", "Whose", "Of", "Where", "How", "Which", "Those", "Nil", "That")
