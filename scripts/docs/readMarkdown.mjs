/** Links and fenced code blocks of a Markdown text, and the anchors of its headings. */
export function readMarkdown(text) {
  const blocks = [];
  const prose = text.replaceAll(/^( *)```(\S*)(.*)\n([^]*?)^ *```$/gm, (_, indent, language, info, code) => {
    blocks.push({ language, info: info.trim(), code: code.replaceAll(new RegExp(`^${indent}`, "gm"), "") });
    return "";
  });
  const spoken = prose.replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, " "));
  const links = [...spoken.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link);
  const anchors = new Set([...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading)));
  return { blocks, links, anchors };
}

/** As GitHub makes it. */
const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
