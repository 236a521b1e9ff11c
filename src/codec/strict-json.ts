import { secretMark } from '../std/secret-mark.js';

/** Limits on reported duplicate fields and on the characters of their paths: names may be as long as a body. */
const duplicatesMax = 1000;
const pathCharactersMax = 1_000_000;
/** Limit on the characters of paths that are compared. Only paths with equal hashes are compared. */
const comparedCharactersMax = 10_000_000;

const mark = secretMark('again');

/**
 * Returns the duplicate fields of JSON objects with their paths, as strict validation reports them:
 * `spec.containers[0].image`. Each is reported once, in the order of the document. The text must have been parsed as
 * JSON before: parsers keep the last value silently.
 */
export function findDuplicateFields(text: string): string[] {
  return new Scanner(text).duplicates();
}

/**
 * Renames all but the first occurrence of a duplicate field to its name, a mark and a number, so that parsing keeps all
 * values.
 */
export function renameRepeated(text: string): { readonly text: string; readonly mark: string } {
  let renamed = '';
  let copied = 0;
  new Scanner(text).repeated((closingQuote) => {
    renamed += `${text.slice(copied, closingQuote)}${mark}${closingQuote}`;
    copied = closingQuote;
  });
  return { text: renamed + text.slice(copied), mark };
}

/**
 * Returns the positions of fields in the text, which order the findings of several checks. Stops at the limits on
 * reported text.
 */
export function positionsOfFields(text: string, paths: ReadonlySet<string>): Map<string, number> {
  return new Scanner(text).positions(paths);
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** An open object or array, and the position of the scanner in it. */
interface Level {
  /** Undefined for arrays. */
  readonly keys: string[] | undefined;
  key: string;
  index: number;
  /** Hash of the path of the object or array. */
  readonly path: PathHash;
}

/** A hash of a path, computed from that of the parent path: each name is read once. */
interface PathHash {
  readonly hash: number;
  readonly isEmpty: boolean;
}

const emptyPath: PathHash = { hash: 0, isEmpty: true };

function hashOf(text: string, hash = 0): number {
  let result = hash;
  for (let at = 0; at < text.length; at++) result = (Math.imul(result, 31) + text.charCodeAt(at)) | 0;
  return result;
}

/** From this many keys on, a Set is faster than a list. */
const listedKeysMax = 16;

class Scanner {
  private at = 0;
  private readonly levels: Level[] = [];
  private hashes = false;
  constructor(private readonly text: string) {}

  duplicates(): string[] {
    const found = new Set<string>();
    const toldIn = new Map<Level, Set<string>>();
    let characters = 0;
    this.repeated(() => {
      if (found.size >= duplicatesMax || characters >= pathCharactersMax) return;
      const level = this.levels.at(-1)!;
      let told = toldIn.get(level);
      if (!told) toldIn.set(level, (told = new Set()));
      if (told.has(level.key)) return;
      told.add(level.key);
      const path = this.path();
      characters += path.length;
      found.add(`duplicate field "${path}"`);
    });
    return [...found];
  }

  repeated(visit: (closingQuote: number) => void): void {
    const sets = new Map<Level, Set<string>>();
    this.scan((level, key) => {
      const keys = level.keys!;
      let isKnown: boolean;
      if (keys.length < listedKeysMax) {
        isKnown = keys.includes(key);
      } else {
        let set = sets.get(level);
        if (set === undefined) sets.set(level, (set = new Set(keys)));
        isKnown = set.has(key);
        set.add(key);
      }
      if (isKnown) visit(this.at);
      else keys.push(key);
    });
  }

  positions(paths: ReadonlySet<string>): Map<string, number> {
    const found = new Map<string, number>();
    const wanted = new Set([...paths].map((path) => hashOf(path)));
    let characters = 0;
    this.hashes = true;
    this.scan((level) => {
      if (!wanted.has(this.stepHash(level).hash) || characters >= comparedCharactersMax) return;
      const path = this.path();
      characters += path.length;
      if (paths.has(path)) found.set(path, this.at);
    });
    return found;
  }

  /** Hash of the path of the current field or item. */
  private stepHash({ keys, key, index, path }: Level): PathHash {
    if (keys === undefined) return { hash: hashOf(`[${index}]`, path.hash), isEmpty: false };
    if (path.isEmpty) return { hash: hashOf(key), isEmpty: key === '' };
    return { hash: hashOf(key, hashOf('.', path.hash)), isEmpty: false };
  }

  private scan(visit: (level: Level, key: string) => void): void {
    const { text, levels } = this;
    let level: Level | undefined;
    let expectsKey = false;
    for (; this.at < text.length; this.at++) {
      switch (text.charCodeAt(this.at)) {
        case quote: {
          const start = this.at + 1;
          this.at = endOfString(text, start);
          if (!expectsKey) break;
          expectsKey = false;
          level!.key = unescaped(text.slice(start, this.at));
          visit(level!, level!.key);
          break;
        }
        case openBrace:
          levels.push((level = this.opened(level, [])));
          expectsKey = true;
          break;
        case openBracket:
          levels.push((level = this.opened(level, undefined)));
          expectsKey = false;
          break;
        case closeBrace:
        case closeBracket:
          levels.pop();
          level = levels.at(-1);
          expectsKey = false;
          break;
        case comma:
          if (level?.keys === undefined) {
            if (level) level.index++;
          } else {
            expectsKey = true;
          }
          break;
      }
    }
  }

  private opened(outer: Level | undefined, keys: string[] | undefined): Level {
    return { keys, key: '', index: 0, path: outer && this.hashes ? this.stepHash(outer) : emptyPath };
  }

  private path(): string {
    let path = '';
    for (const { keys, key, index } of this.levels) {
      if (keys === undefined) path += `[${index}]`;
      else path += path === '' ? key : `.${key}`;
    }
    return path;
  }
}

/** Returns the position of the closing quote. */
function endOfString(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at > 0 && text.charCodeAt(at - 1) === backslash) {
    let slashes = 1;
    while (text.charCodeAt(at - 1 - slashes) === backslash) slashes++;
    if (slashes % 2 === 0) break;
    at = text.indexOf('"', at + 1);
  }
  return at < 0 ? text.length : at;
}

function unescaped(text: string): string {
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}
