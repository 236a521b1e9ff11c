import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

/**
 * Returns paths that the document at `path` names and that do not exist: links, relative to its folder, that are not
 * URLs; text in backticks that begins with a folder of the repository or of src/; names of files such as `README.md`,
 * of which one must exist in any folder. Code blocks and text with placeholders (`<name>`, `…`, `$X`) are skipped.
 */
export function missingPaths(markdown: string, root: string, path = ''): string[] {
  const prose = markdown.replace(/^```[\s\S]*?^```/gm, '');
  const missing = [
    ...linksIn(prose).filter((link) => !existsSync(join(root, dirname(path), link))),
    ...quotedPaths(prose, root).filter((quoted) => !isThere(quoted, root)),
  ];
  return [...new Set(missing)];
}

function linksIn(prose: string): string[] {
  return [...prose.replace(/`[^`\n]*`/g, '').matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => match[1]!.replace(/#.*$/, ''))
    .filter((target) => target !== '' && !/^[a-z]+:/.test(target));
}

function quotedPaths(prose: string, root: string): string[] {
  const folders = new Set([...foldersIn(root), ...foldersIn(join(root, 'src'))]);
  return [...prose.matchAll(/`([^`\n]+)`/g)]
    .map((match) => match[1]!)
    .filter((text) => /^[\w.@{},*/-]+$/.test(text) && !text.startsWith('/'))
    .filter((text) =>
      text.includes('/') ? folders.has(text.split('/')[0]!) : /^[\w.-]+\.(md|json|ts|mjs|cjs|yaml)$/.test(text),
    )
    .flatMap(expandBraces);
}

const names = new Map<string, ReadonlySet<string>>();

function namesBelow(root: string): ReadonlySet<string> {
  const known = names.get(root);
  if (known) return known;
  const found = foldersIn(root).flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }),
  );
  const all = new Set(found.map((path) => posix.basename(path)));
  names.set(root, all);
  return all;
}

const foldersIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && !/^(node_modules|dist|\.(?!ci$).*)$/.test(entry.name))
        .map((entry) => entry.name)
    : [];

/** `a/{b,c}.ts` → `a/b.ts`, `a/c.ts` */
function expandBraces(text: string): string[] {
  const match = /^(.*?)\{([^{}]*)\}(.*)$/.exec(text);
  return match
    ? match[2]!.split(',').flatMap((middle) => expandBraces(`${match[1]}${middle.trim()}${match[3]}`))
    : [text];
}

/**
 * True if the path exists relative to the top or to src/, with or without `.ts`; `*` matches part of a name. A name
 * without folders may be in any.
 */
function isThere(path: string, root: string): boolean {
  if (!path.includes('/')) return existsSync(join(root, path)) || namesBelow(root).has(path);
  const clean = posix.normalize(path).replace(/\/$/, '');
  return ['', 'src'].some((base) => [clean, `${clean}.ts`].some((name) => matches(join(root, base), name.split('/'))));
}

function matches(folder: string, steps: readonly string[]): boolean {
  const [step, ...rest] = steps;
  if (step === undefined) return true;
  if (!step.includes('*')) return existsSync(join(folder, step)) && matches(join(folder, step), rest);
  const pieces = step.split('*');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.some((name) => fits(name, pieces) && matches(join(folder, name), rest));
}

function fits(name: string, pieces: readonly string[]): boolean {
  let at = pieces[0]!.length;
  if (!name.startsWith(pieces[0]!)) return false;
  for (const piece of pieces.slice(1, -1)) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return name.length - pieces.at(-1)!.length >= at && name.endsWith(pieces.at(-1)!);
}

/** Parses rows such as | `NotFound` | 404 | ... | */
export function reasonsInTable(markdown: string): Map<string, number> {
  const rows = [...markdown.matchAll(/^\| *`(\w+)` *\| *(\d{3}) *\|/gm)];
  return new Map(rows.map((row) => [row[1]!, Number(row[2])]));
}

export function differences(documented: ReadonlyMap<string, number>, actual: ReadonlyMap<string, number>): string[] {
  return [...new Set([...documented.keys(), ...actual.keys()])]
    .filter((name) => documented.get(name) !== actual.get(name))
    .map((name) => `${name}: documented as ${documented.get(name) ?? 'nothing'}, is ${actual.get(name) ?? 'nothing'}`);
}

/** Returns leftover notes such as to-dos, as `line: text`. */
export function markersIn(source: string): string[] {
  return source
    .split('\n')
    .flatMap((line, index) => (/\b(TODO|FIXME|XXX|HACK)\b/.test(line) ? [`${index + 1}: ${line.trim()}`] : []));
}
