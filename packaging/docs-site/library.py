"""The pages of a Swift library as Markdown, from the archive that docc makes of its symbols and articles.

docc's own pages are a program that loads data from a server, at a fixed path. Here each type is one page with all its
members. The archive's data are RenderNode documents: https://github.com/swiftlang/swift-docc/blob/main/Sources/SwiftDocC/SwiftDocC.docc/Resources/RenderNode.spec.json
"""

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path

TYPES = {"struct", "enum", "class", "protocol"}


def image_address(folder: str, path: Path) -> str:
    """The address of an image of a library's catalog in the site."""
    return f"{folder}/images/{path.name}"


def escaped(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|~$@^!:-])", r"\\\1", text)


def code(text: str) -> str:
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}"


def wrapped(declaration: str) -> str:
    """A declaration, with a line for each parameter if it is long."""
    if len(declaration) <= 80 or "(" not in declaration:
        return declaration
    start = declaration.index("(") + 1
    parts, depth, begin, end = [], 1, start, len(declaration)
    for place in range(start, len(declaration)):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(declaration[place], 0)
        if depth == 0 or depth == 1 and declaration[place] == ",":
            parts.append(declaration[begin:place].strip())
            begin = place + 1
        if depth == 0:
            end = place
            break
    return declaration[:start] + "\n  " + ",\n  ".join(parts) + "\n" + declaration[end:]


class Library:
    """The documents of one archive, and their addresses in the site."""

    def __init__(self, archive: Path, folder: str) -> None:
        self.name = archive.stem
        self.folder = folder
        documents = [json.loads(path.read_text()) for path in sorted(archive.glob("data/**/*.json"))]
        self.documents = {document["identifier"]["url"]: document for document in documents}
        self.addresses = {url: self.address(url) for url in sorted(self.documents)}

    def has_page(self, url: str) -> bool:
        metadata = self.documents[url]["metadata"]
        return metadata["role"] in ("article", "collection") or metadata.get("symbolKind") in TYPES

    def address(self, url: str) -> str:
        """The page of a document, or of the type whose member it is, with its anchor there."""
        parts = url.split(f"/documentation/{self.name}", 1)[1].strip("/").split("/")
        if parts == [""]:
            return f"{self.folder}.html"
        if self.has_page(url):
            return f"{self.folder}/{'.'.join(parts)}.html"
        parent = self.address(url.rsplit("/", 1)[0])
        return f"{parent}#{self.anchor(parts[-1])}"

    @staticmethod
    def anchor(name: str) -> str:
        """The name without what an address would need to escape."""
        return re.sub(r"[^A-Za-z0-9.-]+", "-", name.replace("==", "equals")).strip("-")

    def inline(self, contents: list[dict], references: dict) -> str:
        text = ""
        for item in contents:
            match item["type"]:
                case "text":
                    text += escaped(item["text"])
                case "codeVoice":
                    text += code(item["code"])
                case "emphasis":
                    text += f"*{self.inline(item['inlineContent'], references)}*"
                case "strong":
                    text += f"**{self.inline(item['inlineContent'], references)}**"
                case "reference":
                    text += self.link(item["identifier"], references)
                case "image":
                    text += self.picture(references[item["identifier"]])
                case other:
                    raise ValueError(f"{self.name}: text of the kind {other}")
        return text

    def link(self, identifier: str, references: dict) -> str:
        reference = references[identifier]
        if reference["type"] == "link":
            return f"[{escaped(reference['title'])}]({reference['url']})"
        title = reference["title"]
        name = escaped(title) if reference.get("kind") == "article" else code(title)
        return f"[{name}]({self.addresses[identifier]})" if identifier in self.addresses else name

    def picture(self, reference: dict) -> str:
        """An image; dark pages show its variant `NAME~dark`, if there is one."""
        files = {"dark" in variant["traits"]: image_address(self.folder, Path(variant["url"])) for variant in reference["variants"]}
        text = f'<img src="{html.escape(files[False])}" alt="{html.escape(reference["alt"])}">'
        if True not in files:
            return text
        return f'<picture><source media="(prefers-color-scheme: dark)" srcset="{html.escape(files[True])}">{text}</picture>'

    def blocks(self, contents: list[dict], references: dict, level: int = 0) -> str:
        """Paragraphs, lists, code and headings, these as many levels lower."""
        text = ""
        for item in contents:
            match item["type"]:
                case "paragraph":
                    text += self.inline(item["inlineContent"], references) + "\n\n"
                case "heading":
                    text += f"{'#' * (item['level'] + level)} {escaped(item['text'])}\n\n"
                case "codeListing":
                    text += f"```{item.get('syntax') or ''}\n" + "\n".join(item["code"]) + "\n```\n\n"
                case "unorderedList" | "orderedList":
                    mark = "- " if item["type"] == "unorderedList" else "1. "
                    for entry in item["items"]:
                        lines = self.blocks(entry["content"], references, level).strip().split("\n")
                        text += mark + "\n".join([lines[0], *(" " * len(mark) + line for line in lines[1:])]) + "\n"
                    text += "\n"
                case "aside":
                    inner = self.blocks(item["content"], references, level).strip()
                    text += "".join(f"> {line}\n" for line in f"**{item.get('name', 'Note')}.** {inner}".split("\n")) + "\n"
                case "table":
                    rows = [[self.blocks(cell, references).strip().replace("|", "\\|") for cell in row] for row in item["rows"]]
                    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
                    text += "".join(f"| {' | '.join(line)} |\n" for line in lines) + "\n"
                case other:
                    raise ValueError(f"{self.name}: content of the kind {other}")
        return text

    def body(self, document: dict, level: int = 0) -> str:
        """The text about a symbol or the text of an article."""
        references = document["references"]
        abstract = self.inline(document.get("abstract", []), references) + "\n\n"
        declaration = text = ""
        for section in document.get("primaryContentSections", []):
            match section["kind"]:
                case "declarations":
                    tokens = section["declarations"][0]["tokens"]
                    declaration = "```swift\n" + wrapped("".join(token["text"] for token in tokens)) + "\n```\n\n"
                case "parameters":
                    for parameter in section["parameters"]:
                        about = self.blocks(parameter["content"], references).strip().replace("\n", "\n  ")
                        text += f"- {code(parameter['name'])}: {about}\n"
                    text += "\n"
                case "content":
                    contents = section["content"]
                    # The text of a symbol has a heading of docc's own.
                    if declaration and contents and contents[0].get("anchor") in ("overview", "discussion"):
                        contents = contents[1:]
                    text += self.blocks(contents, references, level)
        return declaration + abstract + text

    def members(self, url: str) -> list[str]:
        return [member for section in self.documents[url].get("topicSections", []) for member in section["identifiers"]]

    def topics(self, document: dict) -> str:
        """The members of a type, or the topics of a library."""
        text = ""
        for section in document.get("topicSections", []):
            urls = []
            for url in section["identifiers"]:
                # Of the members that a protocol asks for, only types have a page.
                is_group = self.documents[url]["metadata"]["role"] == "collectionGroup"
                urls += filter(self.has_page, self.members(url)) if is_group else [url]
            if not urls:
                continue
            text += f"## {escaped(section['title'])}\n\n"
            for url in urls:
                member = self.documents[url]
                if self.has_page(url):
                    shown = {"type": "topic", "title": member["metadata"]["title"], "kind": member["metadata"]["role"]}
                    about = self.inline(member.get("abstract", []), member["references"])
                    text += f"- {self.link(url, {url: shown})}: {about}\n"
                else:
                    anchor = self.addresses[url].partition("#")[2]
                    text += f"\n### {code(member['metadata']['title'])} {{#{anchor}}}\n\n{self.body(member, 2)}"
            text += "\n"
        return text

    def conformances(self, document: dict) -> str:
        """The protocols that a type conforms to, without those that the compiler adds."""
        names = [document["references"][identifier]["title"].removeprefix("Swift.")
                 for section in document.get("relationshipsSections", []) if section["type"] == "conformsTo"
                 for identifier in section["identifiers"]]
        shown = [code(name) for name in names if name not in ("Copyable", "Escapable", "SendableMetatype")]
        return f"Conforms to {', '.join(shown)}.\n\n" if shown else ""

    def pages(self) -> Iterator[tuple[str, str]]:
        for url, document in sorted(self.documents.items()):
            if not self.has_page(url):
                continue
            metadata = document["metadata"]
            title, kind = metadata["title"], metadata["role"]
            heading = f"# {escaped(title)}\n\n" if kind == "article" else f"# {code(title)}\n\n"
            yield self.addresses[url], heading + self.body(document) + self.conformances(document) + self.topics(document)


def library_pages(archive: Path, folder: str) -> Iterator[tuple[str, str]]:
    """The addresses of the library's pages below `folder`, and their Markdown; links in it are addresses of the site."""
    return Library(archive, folder).pages()


def library_images(archive: Path, folder: str) -> dict[str, Path]:
    """The images of the library's catalog, by their addresses in the site."""
    return {image_address(folder, path): path for path in sorted(archive.glob("images/*/*"))}
