const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const opening = (byte: number) => byte === 0x7b || byte === 0x5b;
const closing = (byte: number) => byte === 0x7d || byte === 0x5d;
const name = Buffer.from('"managedFields":');

/**
 * Removes metadata.managedFields from the compact JSON of an object, of the items of a list, and of the objects in the rows
 * of a Table, without parsing it. The JSON may be that of one item or row, with or without its opening brace. Fields of these names elsewhere (in an annotation, in free-form data) stay.
 */
export function withoutManagedFields(json: Buffer): Buffer {
  if (json.indexOf(name) < 0) return json;
  const kept: Buffer[] = [];
  let keptTo = 0;
  for (const { from, to } of managedFieldsOf(json)) {
    kept.push(json.subarray(keptTo, from));
    keptTo = to;
  }
  if (keptTo === 0) return json;
  kept.push(json.subarray(keptTo));
  return Buffer.concat(kept);
}

/** The nesting at which metadata is: of the object, of `items[]`, of `rows[].object`, of the `object` of a row. */
const pathsOfMetadata = new Set(['metadata', 'items/metadata', 'rows/object/metadata', 'object/metadata']);
const depthMax = 5;

interface Cut {
  readonly from: number;
  readonly to: number;
}

function* managedFieldsOf(json: Buffer): Iterable<Cut> {
  /** Keys of the mappings that are open; '' for a list. */
  const path: string[] = [];
  let key = '';
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]!;
    if (byte === quote) {
      const end = endOfText(json, at);
      if (json[end] !== 0x3a) {
        at = end - 1;
        continue;
      }
      key = json.toString('latin1', at + 1, end - 1);
      if (key === 'managedFields' && pathsOfMetadata.has(pathText(path))) {
        const to = endOfValue(json, end + 1);
        // The comma that follows, or else the one before.
        const cut = json[to] === comma ? { from: at, to: to + 1 } : { from: json[at - 1] === comma ? at - 1 : at, to };
        yield cut;
        at = cut.to - 1;
      } else {
        at = end;
      }
    } else if (opening(byte)) {
      if (path.length >= depthMax) at = endOfValue(json, at) - 1;
      else path.push(key);
      key = '';
    } else if (closing(byte)) {
      path.pop();
      key = '';
    }
  }
}

/** Joins the keys without those of the document itself and of items of lists, which have none. */
const pathText = (path: readonly string[]): string => path.filter((key) => key !== '').join('/');

/** Returns the position after the text that begins at `at`. */
function endOfText(json: Buffer, at: number): number {
  let end = at;
  for (;;) {
    end = json.indexOf(quote, end + 1);
    if (end < 0) return json.length;
    let slashes = 0;
    while (json[end - 1 - slashes] === backslash) slashes++;
    if (slashes % 2 === 0) return end + 1;
  }
}

/** Returns the position after the value that begins at `at`. */
function endOfValue(json: Buffer, at: number): number {
  let depth = 0;
  for (let index = at; index < json.length; index++) {
    const byte = json[index]!;
    if (byte === quote) {
      index = endOfText(json, index) - 1;
      if (depth === 0) return index + 1;
    } else if (opening(byte)) depth++;
    else if (closing(byte)) {
      if (depth === 0) return index;
      if (--depth === 0) return index + 1;
    } else if (byte === comma && depth === 0) return index;
  }
  return json.length;
}
