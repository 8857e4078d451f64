// Source text with everything blanked that is not code, at unchanged offsets, and the strings that were found.

const KEYWORDS_BEFORE_REGEX = /\b(?:return|typeof|case|in|of|do|else|void|delete|instanceof|new|throw|await|yield)$/;

/** A slash begins a regular expression where a value may begin: not after a name, a number, a string or a closing bracket. */
function regexMayStart(codeBefore) {
  const before = codeBefore.trimEnd();
  return before === "" || !/[\w$)\]}"'`]$/.test(before) || KEYWORDS_BEFORE_REGEX.test(before);
}

const spaces = (text) => text.replace(/[^\n]/g, " ");

/** Quotes stay, so that a string still looks like one; `${…}` inside templates is code. */
export function blank(source) {
  const strings = new Map();
  /** For every open template hole, how many braces are open inside it. */
  const holes = [];
  let code = "";
  let i = 0;
  const take = (end, keep) => {
    code += keep ? source.slice(i, end) : spaces(source.slice(i, end));
    i = end;
  };
  const endOf = (pattern) => {
    pattern.lastIndex = i;
    const match = pattern.exec(source);
    return match === null ? source.length : match.index + match[0].length;
  };
  const template = () => {
    const end = endOf(/(?:[^\\`$]|\\[^]|\$(?!\{))*/y);
    take(end, false);
    if (source[i] === "`") take(i + 1, true);
    else if (source[i] === "$") {
      take(i + 2, true);
      holes.push(0);
    }
  };
  while (i < source.length) {
    const c = source[i];
    const next = source[i + 1];
    if (c === "/" && next === "/") take(endOf(/.*/y), false);
    else if (c === "/" && next === "*") take(endOf(/\/\*[^]*?\*\//y), false);
    else if (c === '"' || c === "'") {
      const end = endOf(c === '"' ? /"(?:[^"\\\n]|\\[^])*"?/y : /'(?:[^'\\\n]|\\[^])*'?/y);
      strings.set(i, source.slice(i + 1, end - 1));
      take(i + 1, true);
      take(Math.max(i, end - 1), false);
      take(end, true);
    } else if (c === "`") {
      take(i + 1, true);
      template();
    } else if (c === "/" && regexMayStart(code.slice(-200))) take(endOf(/\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y), false);
    else if (c === "}" && holes.at(-1) === 0) {
      holes.pop();
      take(i + 1, true);
      template();
    } else {
      if (holes.length > 0 && (c === "{" || c === "}")) holes[holes.length - 1] += c === "{" ? 1 : -1;
      take(i + 1, true);
    }
  }
  return { code, strings };
}
