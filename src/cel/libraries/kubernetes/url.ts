import type { Implementation } from '../../check/declarations.js';
import { declare, member, overload } from '../../check/declarations.js';
import type { CelType } from '../../types.js';
import { listOf, mapOf, structType, types } from '../../types.js';
import { BuiltMap } from '../../values/maps.js';
import type { Value } from '../../values/value.js';
import { CelError, OpaqueValue, orNoSuchOverload } from '../../values/value.js';
import { spend, spendOnText } from '../../work.js';
import type { Library } from '../library.js';
import type { ParsedUrl } from './url-text.js';
import { hostname, parseUrl, portOf, queryValues } from './url-text.js';

/** url('https://example.com/a?b=c') and its parts. */
const { bool, string } = types;
const urlType = structType('kubernetes.URL');

class Url extends OpaqueValue {
  readonly type = urlType;
  constructor(readonly parsed: ParsedUrl) {
    super();
  }
  equals(other: Value): Value {
    return other instanceof Url ? this.parsed.text === other.parsed.text : orNoSuchOverload(other);
  }
  override toString(): string {
    return this.parsed.text;
  }
}

function toUrl(text: string): Value {
  const parsed = [parseUrl(text, true), parseUrl(text, false)];
  const problem = parsed.find((result) => typeof result === 'string');
  if (problem !== undefined) return new CelError(`URL parse error during conversion from string: ${problem}`);
  return new Url(parsed[1] as ParsedUrl);
}

const ofText =
  (read: (text: string) => Value): Implementation =>
  (value) =>
    typeof value === 'string' ? read(value) : orNoSuchOverload(value);

const part = (name: string, id: string, type: CelType, read: (url: ParsedUrl) => Value) =>
  declare(
    name,
    member(id, [urlType], type, (url) => (url instanceof Url ? read(url.parsed) : orNoSuchOverload(url))),
  );

function queryMap({ query }: ParsedUrl): Value {
  const map = new BuiltMap();
  spend(60);
  spendOnText(query, 10);
  for (const [key, values] of queryValues(query)) map.set(key, values);
  return map;
}

export const urlLibrary: Library = {
  name: 'kubernetes.urls',
  functions: [
    declare('url', overload('string_to_url', [string], urlType, ofText(toUrl))),
    part('getScheme', 'url_get_scheme', string, ({ scheme }) => scheme),
    part('getHost', 'url_get_host', string, ({ host }) => host),
    part('getHostname', 'url_get_hostname', string, ({ host }) => hostname(host)),
    part('getPort', 'url_get_port', string, ({ host }) => portOf(host)),
    part('getEscapedPath', 'url_get_escaped_path', string, ({ path }) => path),
    part('getQuery', 'url_get_query', mapOf(string, listOf(string)), queryMap),
    declare(
      'isURL',
      overload(
        'is_url_string',
        [string],
        bool,
        ofText((text) => {
          spendOnText(text, 1);
          return typeof parseUrl(text, true) !== 'string';
        }),
      ),
    ),
  ],
};
