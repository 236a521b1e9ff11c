import type { Steps } from '../std/steps.js';
import { json, yaml } from '../codec/encodings.js';
import type { Encoding, ListHead } from '../codec/encoding.js';

type ListMeta = ListHead['metadata'];

/** A YAML or indented JSON list in parts; joined, they equal the encoding of the whole list. */
interface TextList {
  head(meta: ListMeta): Buffer;
  readonly separator: Buffer;
  item(value: unknown): Buffer;
  itemInSteps?(value: unknown): Steps<Buffer>;
  tail(meta: ListMeta): Buffer;
}

/** `whole` returns the list without its items, which are inserted under `key` in key order. */
export function textList(encoding: Encoding, whole: (meta: ListMeta) => object, key: string): TextList | undefined {
  if (encoding.name === 'yaml') return yamlList(whole, key);
  return encoding.name === 'json' ? prettyList(whole, key) : undefined;
}

const nothing = Buffer.alloc(0);

/** YAML sorts keys, so the items stand between other fields. Items are not indented. */
function yamlList(whole: (meta: ListMeta) => object, key: string): TextList {
  const part = (meta: ListMeta, belongs: (name: string) => boolean) => {
    const fields = Object.entries(whole(meta)).filter(([name]) => belongs(name));
    return fields.length === 0 ? nothing : yaml.encode(Object.fromEntries(fields));
  };
  return {
    head: (meta) => Buffer.concat([part(meta, (name) => name < key), Buffer.from(`${key}:\n`)]),
    separator: nothing,
    item: (value) => yaml.encode([value]),
    itemInSteps: (value) => yaml.encodeInSteps!([value]),
    tail: (meta) => part(meta, (name) => name > key),
  };
}

const prettyEnd = '\n}\n';

/** In indented JSON the items come last, at depth two. JSON strings contain no line breaks. */
function prettyList(whole: (meta: ListMeta) => object, key: string): TextList {
  const pretty = (value: unknown) => json.encode(value, { pretty: true }).toString();
  return {
    head: (meta) => Buffer.from(`${pretty(whole(meta)).slice(0, -prettyEnd.length)},\n  "${key}": [\n    `),
    separator: Buffer.from(',\n    '),
    item: (value) => Buffer.from(pretty(value).trimEnd().replaceAll('\n', '\n    ')),
    tail: () => Buffer.from(`\n  ]${prettyEnd}`),
  };
}
