import { quote } from '../../values/texts.js';
import { spend, spendOnText } from '../../work.js';
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

/** The error of a text that is no URL. It is returned, since an exception would take longer than the parsing. */
class UrlProblem {
  constructor(readonly message: string) {}
}

/** The URL, or why the text is none. `isRequest` wants an absolute URL or path. */
export function parseUrl(text: string, isRequest: boolean): ParsedUrl | string {
  spend(150);
  const hash = isRequest ? -1 : text.indexOf('#');
  const body = hash < 0 ? text : text.slice(0, hash);
  const parsed = parse(body, isRequest, hash < 0 ? '' : text.slice(hash));
  return parsed instanceof UrlProblem ? `parse ${quote(body)}: ${parsed.message}` : parsed;
}

function parse(text: string, isRequest: boolean, fragment: string): ParsedUrl | UrlProblem {
  if (/[\u0000-\u001f\u007f]/.test(text)) return new UrlProblem('net/url: invalid control character in URL');
  if (text === '' && isRequest) return new UrlProblem('empty url');
  if (text === '*') return { scheme: '', host: '', path: '*', query: '', text: '*' };
  if (text.startsWith(':')) return new UrlProblem('missing protocol scheme');
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text)?.[1] ?? '';
  const afterScheme = scheme === '' ? text : text.slice(scheme.length + 1);
  const mark = afterScheme.indexOf('?');
  const rest = mark < 0 ? afterScheme : afterScheme.slice(0, mark);
  const query = mark < 0 ? '' : afterScheme.slice(mark + 1);
  const end = (mark < 0 ? '' : `?${query}`) + fragment;
  const parsed = { scheme: scheme.toLowerCase(), query };
  if (!rest.startsWith('/')) {
    if (scheme !== '') return { ...parsed, host: '', path: '', text: `${parsed.scheme}:${rest}${end}` };
    if (isRequest) return new UrlProblem('invalid URI for request');
    if (rest.split('/', 1)[0]!.includes(':')) return new UrlProblem('first path segment in URL cannot contain colon');
  }
  const head = scheme === '' ? '' : `${parsed.scheme}:`;
  const hasAuthority = rest.startsWith('//') && (scheme !== '' || (!isRequest && !rest.startsWith('///')));
  if (!hasAuthority) {
    const path = escapedPath(rest);
    return path instanceof UrlProblem ? path : { ...parsed, host: '', path, text: head + path + end };
  }
  const slash = rest.indexOf('/', 2);
  const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
  const at = authority.lastIndexOf('@');
  const host = parseHost(parsed.scheme, authority.slice(at + 1));
  if (host instanceof UrlProblem) return host;
  const problem = at < 0 ? undefined : userProblem(authority.slice(0, at));
  if (problem) return problem;
  const path = escapedPath(slash < 0 ? '' : rest.slice(slash));
  if (path instanceof UrlProblem) return path;
  return { ...parsed, host, path, text: `${head}//${authority.slice(0, at + 1)}${host}${path}${end}` };
}

function userProblem(user: string): UrlProblem | undefined {
  return /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)
    ? escapeProblem(user)
    : new UrlProblem('net/url: invalid userinfo');
}

function escapeProblem(text: string): UrlProblem | undefined {
  const wrong = /%(?![0-9a-fA-F]{2})/.exec(text);
  return wrong ? new UrlProblem(`invalid URL escape ${quote(text.slice(wrong.index, wrong.index + 3))}`) : undefined;
}

function parseHost(scheme: string, host: string): string | UrlProblem {
  const open = host.lastIndexOf('[');
  if (open > 0) return new UrlProblem('invalid IP-literal');
  if (open === 0) return parseIpLiteral(host);
  const first = host.indexOf(':');
  const isStrict = scheme === 'http' || scheme === 'https';
  const problem = first < 0 ? undefined : portProblem(host.slice(isStrict ? first : host.lastIndexOf(':')));
  return problem ?? unescapeHost(host);
}

function parseIpLiteral(host: string): string | UrlProblem {
  const close = host.lastIndexOf(']');
  if (close < 0) return new UrlProblem("missing ']' in host");
  const port = host.slice(close + 1);
  const name = portProblem(port) ?? unescapeHost(host.slice(1, close));
  if (name instanceof UrlProblem) return name;
  const address = parseAddress(name);
  if (typeof address === 'string') return new UrlProblem(`invalid host: ${address}`);
  return address.family === 4 ? new UrlProblem('invalid IP-literal') : `[${name}]${port}`;
}

function portProblem(port: string): UrlProblem | undefined {
  return /^(?::[0-9]*)?$/.test(port) ? undefined : new UrlProblem(`invalid port ${quote(port)} after host`);
}

/** In a host, only bytes beyond ASCII may be escaped, and the percent sign before a zone. */
function unescapeHost(host: string): string | UrlProblem {
  const problem = escapeProblem(host);
  if (problem) return problem;
  const escape = /%(?!25)[0-7][0-9a-fA-F]/.exec(host);
  if (escape) return new UrlProblem(`invalid URL escape ${quote(escape[0])}`);
  const wrong = /[^A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"%\u0080-\uffff]/.exec(host);
  if (wrong) return new UrlProblem(`invalid character ${quote(wrong[0])} in host name`);
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
function escapedPath(path: string): string | UrlProblem {
  const problem = escapeProblem(path);
  if (problem) return problem;
  if (/^[A-Za-z0-9\-_.~!$&'()*+,;=:@/[\]%]*$/.test(path)) return path;
  spendOnText(path, 6);
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
