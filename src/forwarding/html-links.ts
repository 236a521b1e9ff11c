import { Transform, type TransformCallback } from 'node:stream';

/** Attributes with a URL, by element. */
const urlAttributes: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...['a', 'area', 'link'].map((name) => [name, ['href']] as const),
  ...['audio', 'embed', 'script', 'source'].map((name) => [name, ['src']] as const),
  ...['blockquote', 'del', 'ins', 'q'].map((name) => [name, ['cite']] as const),
  ...['frame', 'iframe'].map((name) => [name, ['longdesc', 'src']] as const),
  ['applet', ['codebase']],
  ['base', ['href']],
  ['body', ['background']],
  ['button', ['formaction']],
  ['command', ['icon']],
  ['form', ['action']],
  ['head', ['profile']],
  ['html', ['manifest']],
  ['img', ['longdesc', 'src', 'usemap']],
  ['input', ['src', 'usemap', 'formaction']],
  ['object', ['classid', 'codebase', 'data', 'usemap']],
  ['video', ['poster', 'src']],
]);

/** Elements whose content has no tags but their end. */
const rawElements = new Set([
  'iframe',
  'noembed',
  'noframes',
  'noscript',
  'script',
  'style',
  'textarea',
  'title',
  'xmp',
]);

/** Characters of one tag; a longer one is passed as it is. A tag is read again with each piece of it that arrives. */
const tagLengthMax = 8 * 1024;
const space = /[\t\n\f\r ]/;

interface Tag {
  /** The index after `>`. */
  readonly end: number;
  readonly name: string;
  /** Values of attributes, without their quotes. */
  readonly values: readonly { readonly attribute: string; readonly start: number; readonly end: number }[];
}

/**
 * Rewrites the URLs in the tags of a page while it is sent; everything else passes byte by byte. Memory is bounded by the
 * longest tag.
 */
export class HtmlLinks extends Transform {
  /** An incomplete tag or comment, in Latin-1 so that bytes of any encoding survive. */
  private held = '';
  private rawElement = '';
  private isInComment = false;

  constructor(private readonly rewrite: (link: string) => string) {
    super();
  }

  override _transform(bytes: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const text = this.held + bytes.toString('latin1');
    this.held = '';
    const output = this.process(text);
    if (output !== '') this.push(Buffer.from(output, 'latin1'));
    done();
  }

  override _flush(done: TransformCallback): void {
    if (this.held !== '') this.push(Buffer.from(this.held, 'latin1'));
    done();
  }

  private process(text: string): string {
    let output = '';
    let at = 0;
    while (at < text.length) {
      if (this.isInComment) {
        const endAt = text.indexOf('-->', at);
        if (endAt < 0) {
          // The last two characters may begin its end.
          const kept = Math.max(at, text.length - 2);
          this.held = text.slice(kept);
          return output + text.slice(at, kept);
        }
        this.isInComment = false;
        output += text.slice(at, endAt + 3);
        at = endAt + 3;
        continue;
      }
      const tagAt = text.indexOf('<', at);
      if (tagAt < 0) return output + text.slice(at);
      output += text.slice(at, tagAt);
      const end = this.rawElement === '' ? this.markupEnd(text, tagAt) : this.rawEnd(text, tagAt);
      if (end === undefined) {
        // Too long for a tag: the rest is text.
        if (text.length - tagAt > tagLengthMax) return output + text.slice(tagAt);
        this.held = text.slice(tagAt);
        return output;
      }
      output += typeof end === 'number' ? text.slice(tagAt, end) : this.rewritten(text, tagAt, end);
      at = typeof end === 'number' ? end : end.end;
    }
    return output;
  }

  /** Returns a tag, or the index after something else that begins with `<`; undefined if it is incomplete. */
  private markupEnd(text: string, at: number): number | Tag | undefined {
    const next = text[at + 1];
    if (next === undefined) return undefined;
    if (next === '!') {
      const isComment = text.startsWith('--', at + 2);
      if (!isComment && '<!--'.startsWith(text.slice(at))) return undefined;
      this.isInComment = isComment;
      // An empty comment may be written <!-->.
      return isComment ? at + 2 : indexAfter(text, '>', at);
    }
    if (next === '/' || next === '?') return indexAfter(text, '>', at);
    return /[A-Za-z]/.test(next) ? parseTag(text, at) : at + 1;
  }

  /** Returns the index up to which the content of a raw element passes; undefined if its end may have begun. */
  private rawEnd(text: string, at: number): number | undefined {
    const end = `</${this.rawElement}`;
    const found = text.slice(at, at + end.length).toLowerCase();
    if (found === end) {
      this.rawElement = '';
      return at + end.length;
    }
    return end.startsWith(found) ? undefined : at + 1;
  }

  private rewritten(text: string, at: number, { name, values, end }: Tag): string {
    if (rawElements.has(name)) this.rawElement = name;
    const attributes = urlAttributes.get(name);
    let output = '';
    let from = at;
    for (const { attribute, start, end: valueEnd } of attributes ? values : []) {
      if (!attributes!.includes(attribute)) continue;
      output += text.slice(from, start) + this.rewrite(text.slice(start, valueEnd));
      from = valueEnd;
    }
    return output + text.slice(from, end);
  }
}

function indexAfter(text: string, character: string, from: number): number | undefined {
  const found = text.indexOf(character, from);
  return found < 0 ? undefined : found + 1;
}

/** Reads a start tag; undefined if it is incomplete. */
function parseTag(text: string, tagAt: number): Tag | undefined {
  let at = tagAt + 1;
  const skip = (isSkipped: (character: string) => boolean) => {
    while (at < text.length && isSkipped(text[at]!)) at++;
  };
  const isWordEnd = (character: string) => space.test(character) || character === '/' || character === '>';
  const nameAt = at;
  skip((character) => !isWordEnd(character));
  const name = text.slice(nameAt, at).toLowerCase();
  const values: Tag['values'][number][] = [];
  for (;;) {
    skip((character) => space.test(character) || character === '/');
    if (at >= text.length) return undefined;
    if (text[at] === '>') return { end: at + 1, name, values };
    const attributeAt = at++;
    skip((character) => character !== '=' && !isWordEnd(character));
    const attribute = text.slice(attributeAt, at).toLowerCase();
    skip((character) => space.test(character));
    if (text[at] !== '=') continue;
    at++;
    skip((character) => space.test(character));
    const quote = text[at];
    const isQuoted = quote === '"' || quote === "'";
    if (isQuoted) at++;
    const start = at;
    skip((character) => (isQuoted ? character !== quote : !space.test(character) && character !== '>'));
    if (at >= text.length) return undefined;
    values.push({ attribute, start, end: at });
    if (isQuoted) at++;
  }
}
