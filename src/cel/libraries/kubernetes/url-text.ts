import { quote } from '../../values/texts.js';
import { spendOnText } from '../../work.js';
import { parseAddress } from './addresses.js';

/** A URL as Go's net/url reads it. `path` is as it was written. */
export interface ParsedUrl {
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
  /** The URL again, as Go writes it. */
  readonly text: string;
}

class UrlError extends Error {}

/** The URL, or why the text is none. `isRequest` wants an absolute URL or path. */
export function parseUrl(text: string, isRequest: boolean): ParsedUrl | string {
  const hash = isRequest ? -1 : text.indexOf('#');
  const body = hash < 0 ? text : text.slice(0, hash);
  try {
    return parse(body, isRequest, hash < 0 ? '' : text.slice(hash));
  } catch (error) {
    if (error instanceof UrlError) return `parse ${quote(body)}: ${error.message}`;
    throw error;
  }
}

function parse(text: string, isRequest: boolean, fragment: string): ParsedUrl {
  if (/[\u0000-\u001f\u007f]/.test(text)) throw new UrlError('net/url: invalid control character in URL');
  if (text === '' && isRequest) throw new UrlError('empty url');
  if (text === '*') return { scheme: '', host: '', path: '*', query: '', text: '*' };
  if (text.startsWith(':')) throw new UrlError('missing protocol scheme');
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text)?.[1] ?? '';
  const afterScheme = scheme === '' ? text : text.slice(scheme.length + 1);
  const mark = afterScheme.indexOf('?');
  let rest = mark < 0 ? afterScheme : afterScheme.slice(0, mark);
  const query = mark < 0 ? '' : afterScheme.slice(mark + 1);
  const end = (mark < 0 ? '' : `?${query}`) + fragment;
  const parsed = { scheme: scheme.toLowerCase(), query };
  if (!rest.startsWith('/')) {
    if (scheme !== '') return { ...parsed, host: '', path: '', text: `${parsed.scheme}:${rest}${end}` };
    if (isRequest) throw new UrlError('invalid URI for request');
    if (rest.split('/')[0]!.includes(':')) throw new UrlError('first path segment in URL cannot contain colon');
  }
  let host = '';
  let user = '';
  const hasAuthority = rest.startsWith('//') && (scheme !== '' || (!isRequest && !rest.startsWith('///')));
  if (hasAuthority) {
    const slash = rest.indexOf('/', 2);
    const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
    rest = slash < 0 ? '' : rest.slice(slash);
    const at = authority.lastIndexOf('@');
    host = parseHost(parsed.scheme, authority.slice(at + 1));
    user = at < 0 ? '' : authority.slice(0, at + 1);
    checkUser(user.slice(0, -1));
  }
  checkEscapes(rest);
  const path = escapedPath(rest);
  const head = scheme === '' ? '' : `${parsed.scheme}:`;
  return { ...parsed, host, path, text: `${head}${hasAuthority ? `//${user}${host}` : ''}${path}${end}` };
}

function checkUser(user: string): void {
  if (user === '') return;
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) throw new UrlError('net/url: invalid userinfo');
  checkEscapes(user);
}

function checkEscapes(text: string): void {
  const wrong = /%(?![0-9a-fA-F]{2})/.exec(text);
  if (wrong) throw new UrlError(`invalid URL escape ${quote(text.slice(wrong.index, wrong.index + 3))}`);
}

function parseHost(scheme: string, host: string): string {
  const open = host.lastIndexOf('[');
  if (open > 0) throw new UrlError('invalid IP-literal');
  if (open === 0) {
    const close = host.lastIndexOf(']');
    if (close < 0) throw new UrlError("missing ']' in host");
    checkPort(host.slice(close + 1));
    const name = unescapeHost(host.slice(1, close));
    const address = parseAddress(name);
    if (typeof address === 'string') throw new UrlError(`invalid host: ${address}`);
    if (address.family === 4) throw new UrlError('invalid IP-literal');
    return `[${name}]${host.slice(close + 1)}`;
  }
  const first = host.indexOf(':');
  const isStrict = scheme === 'http' || scheme === 'https';
  if (first >= 0) checkPort(host.slice(isStrict ? first : host.lastIndexOf(':')));
  return unescapeHost(host);
}

function checkPort(port: string): void {
  if (!/^(?::[0-9]*)?$/.test(port)) throw new UrlError(`invalid port ${quote(port)} after host`);
}

/** In a host, only bytes beyond ASCII may be escaped, and the percent sign before a zone. */
function unescapeHost(host: string): string {
  checkEscapes(host);
  const escape = /%(?!25)[0-7][0-9a-fA-F]/.exec(host);
  if (escape) throw new UrlError(`invalid URL escape ${quote(escape[0])}`);
  const wrong = /[^A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"%\u0080-\uffff]/.exec(host);
  if (wrong) throw new UrlError(`invalid character ${quote(wrong[0])} in host name`);
  return unescapeBytes(host);
}

function unescapeBytes(text: string): string {
  if (!text.includes('%')) return text;
  const parts = text.split(/((?:%[0-9a-fA-F]{2})+)/);
  return parts
    .map((part, index) => (index % 2 === 0 ? part : Buffer.from(part.replaceAll('%', ''), 'hex').toString('utf8')))
    .join('');
}

/** The path as it was written, if that is a valid encoding; else encoded again. */
function escapedPath(path: string): string {
  if (/^[A-Za-z0-9\-_.~!$&'()*+,;=:@/[\]%]*$/.test(path)) return path;
  spendOnText(path, 2);
  return unescapeBytes(path).replace(/[^A-Za-z0-9\-_.~$&+,/:;=@]+/g, (run) =>
    encodeURIComponent(run.replace(/[\ud800-\udfff]/gu, '\ufffd')).replace(/[!'()*]/g, percent),
  );
}
const percent = (char: string): string => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;

/** The name before the port, without brackets. */
export function hostname(host: string): string {
  const name = host.replace(/:[0-9]*$/, '');
  return name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name;
}
export const portOf = (host: string): string => /:([0-9]*)$/.exec(host)?.[1] ?? '';

/** The values of each parameter; what cannot be read is left out. */
export function queryValues(query: string): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const part of query.split('&')) {
    if (part === '' || part.includes(';') || /%(?![0-9a-fA-F]{2})/.test(part)) continue;
    const equals = part.indexOf('=');
    const read = (text: string): string => unescapeBytes(text.replaceAll('+', ' '));
    const key = read(equals < 0 ? part : part.slice(0, equals));
    const value = equals < 0 ? '' : read(part.slice(equals + 1));
    const known = values.get(key);
    if (known) known.push(value);
    else values.set(key, [value]);
  }
  return values;
}
