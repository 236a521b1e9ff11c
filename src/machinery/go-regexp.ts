// Regular expressions as Go has them (RE2), which is what schemas are written in. Here they are only parsed, never run:
// JavaScript's engine knows patterns that take it for ever. What is spelt otherwise there is translated first.

/** What is wrong with a pattern, in the words of Go's own parser. */
export function goRegexpProblem(pattern: string): string | undefined {
  const translated = translate(pattern);
  if ('problem' in translated) return `error parsing regexp: ${translated.problem}`;
  try {
    // eslint-disable-next-line no-restricted-syntax -- parsed, and thrown away
    new RegExp(translated.source, translated.flags);
    return undefined;
  } catch (error) {
    return `error parsing regexp: ${inGo(error instanceof Error ? error.message : '', pattern)}`;
  }
}

type Translated = { readonly source: string; readonly flags: string } | { readonly problem: string };

const classes: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7F',
  blank: '\\t ',
  cntrl: '\\x00-\\x1F\\x7F',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@[-`{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

function translate(pattern: string): Translated {
  // Flags are only known at the start, where they are written.
  const start = /^\(\?([imsU]+)\)/.exec(pattern);
  const flags = new Set(['u', ...(start?.[1] ?? '').replace('U', '')]);
  let rest = pattern.slice(start?.[0].length ?? 0);
  let source = '';
  let inClass = false;
  while (rest !== '') {
    const [piece, taken] = next(rest, inClass);
    if (typeof piece !== 'string') return piece;
    if (!inClass && rest.startsWith('[')) inClass = true;
    else if (inClass && rest.startsWith(']')) inClass = false;
    source += piece;
    rest = rest.slice(taken);
  }
  return { source, flags: [...flags].join('') };
}

type Piece = readonly [piece: string | { readonly problem: string }, taken: number];

function next(rest: string, inClass: boolean): Piece {
  const problem = (text: string): Piece => [{ problem: text }, 0];
  if (rest.startsWith('\\')) return nextEscape(rest, problem, inClass);
  if (inClass) {
    const named = /^\[:(\^?)(\w+):\]/.exec(rest);
    if (named && Object.hasOwn(classes, named[2]!) && named[1] === '') return [classes[named[2]!]!, named[0].length];
    // What must be escaped in a class of the `u` flag, and need not be in Go.
    return rest.startsWith('[') ? ['\\[', 1] : [rest[0]!, 1];
  }
  const look = /^\(\?(?:[=!]|<[=!])/.exec(rest);
  if (look) return problem(`invalid or unsupported Perl syntax: \`${look[0]}\``);
  if (rest.startsWith('(?P<')) return ['(?<', 4];
  const group = /^\(\?[imsU-]+:/.exec(rest);
  if (group) return ['(?:', group[0].length];
  // A brace that begins no count stands for itself.
  if (rest.startsWith('{') && !/^\{\d+(,\d*)?\}/.test(rest)) return ['\\{', 1];
  if (rest.startsWith('}')) return ['\\}', 1];
  const count = /^\{\d+(,\d*)?\}/.exec(rest);
  if (count) return [count[0], count[0].length];
  if (rest.startsWith('[')) {
    const head = /^\[\^?\]?/.exec(rest)![0];
    return [head.replace(/\]$/, '\\]'), head.length];
  }
  if (rest.startsWith(']')) return ['\\]', 1];
  const character = String.fromCodePoint(rest.codePointAt(0)!);
  return [character, character.length];
}

function nextEscape(rest: string, problem: (text: string) => Piece, inClass: boolean): Piece {
  const letter = rest[1];
  if (letter === undefined) return problem('trailing backslash at end of expression: ``');
  if (letter === 'A' && !inClass) return ['^', 2];
  if (letter === 'z' && !inClass) return ['$', 2];
  if (letter === 'a') return ['\\x07', 2];
  if (letter === 'Q') {
    const end = rest.indexOf('\\E');
    const quoted = end < 0 ? rest.slice(2) : rest.slice(2, end);
    return [quoted.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), end < 0 ? rest.length : end + 2];
  }
  const hex = /^\\x\{([0-9A-Fa-f]{1,6})\}/.exec(rest);
  if (hex) return [`\\u{${hex[1]}}`, hex[0].length];
  const property = /^\\([pP])(?:\{(\^?)(\w+)\}|([A-Z]))/.exec(rest);
  if (property) {
    const name = property[3] ?? property[4]!;
    const isScript = name.length > 2;
    return [`\\${property[1]}{${isScript ? 'Script=' : ''}${name}}`, property[0].length];
  }
  if (/[1-9]/.test(letter)) return problem(`invalid escape sequence: \`\\${letter}\``);
  if (/[dDsSwWbBfnrtv0xk]/.test(letter)) {
    return letter === 'k' || (letter === 'b' && inClass)
      ? problem(`invalid escape sequence: \`\\${letter}\``)
      : [rest.slice(0, 2), 2];
  }
  if (/[A-Za-z]/.test(letter)) return problem(`invalid escape sequence: \`\\${letter}\``);
  // Punctuation may always be escaped in Go, and only some of it with the `u` flag.
  if (/[\^$\\.*+?()[\]{}|/]/.test(letter) || (letter === '-' && inClass)) return [rest.slice(0, 2), 2];
  const character = String.fromCodePoint(rest.codePointAt(1)!);
  return [character, 1 + character.length];
}

/** Mistakes that JavaScript's parser finds, by their names there. */
function inGo(message: string, pattern: string): string {
  if (message.includes('Unterminated group')) return `missing closing ): \`${pattern}\``;
  if (message.includes("Unmatched ')'")) return `unexpected ): \`${pattern}\``;
  if (message.includes('character class')) return `missing closing ]: \`${pattern.slice(pattern.lastIndexOf('['))}\``;
  if (message.includes('Nothing to repeat')) {
    return `missing argument to repetition operator: \`${/[*+?]|\{\d/.exec(pattern)?.[0] ?? pattern}\``;
  }
  if (message.includes('Range out of order')) return `invalid character class range: \`${pattern}\``;
  return `invalid pattern: \`${pattern}\``;
}
