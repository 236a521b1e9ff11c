import type { Steps } from '../std/steps.js';
import { json, yaml, type Encoding, type ListHead } from '../codec/encodings.js';

type ListMeta = ListHead['metadata'];

/** A list that people read, as pieces of text; it is the text that the encoding makes of the whole. */
export interface TextList {
  head(meta: ListMeta): Buffer;
  readonly separator: Buffer;
  item(value: unknown): Buffer;
  itemInSteps?(value: unknown): Steps<Buffer>;
  tail(meta: ListMeta): Buffer;
}

/** `whole` is the list around its items, which are under `key`, in the order in which it is written. */
export function textList(encoding: Encoding, whole: (meta: ListMeta) => object, key: string): TextList | undefined {
  if (encoding.name === 'yaml') return yamlList(whole, key);
  return encoding.name === 'json' ? prettyList(whole, key) : undefined;
}

const nothing = Buffer.alloc(0);

/** Keys are sorted: the items stand in the middle. Items are not indented under their key. */
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

/** The items come last, two levels deep. Texts hold no line breaks in JSON. */
function prettyList(whole: (meta: ListMeta) => object, key: string): TextList {
  const pretty = (value: unknown) => json.encode(value, { pretty: true }).toString();
  return {
    head: (meta) => Buffer.from(`${pretty(whole(meta)).slice(0, -prettyEnd.length)},\n  "${key}": [\n    `),
    separator: Buffer.from(',\n    '),
    item: (value) => Buffer.from(pretty(value).trimEnd().replaceAll('\n', '\n    ')),
    tail: () => Buffer.from(`\n  ]${prettyEnd}`),
  };
}
