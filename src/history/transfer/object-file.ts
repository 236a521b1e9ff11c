import { createReadStream } from 'node:fs';
import { decodeYaml } from '../../codec/yaml.js';
import { ClientError } from '../../kubeconfig-client/client-error.js';
import { asFields, asItems, asText, type Fields } from '../../machinery/fields.js';
import { DecodeError } from '../../std/decode-error.js';
import { readSequence } from '../cbor-sequence.js';
import { fileError } from '../own-file.js';

/** A document may be a List of many objects. */
const documentBytesMax = 64 * 1024 * 1024;
/** All objects are checked before the first one is written, so they must fit into memory. */
const fileBytesMax = 1024 * 1024 * 1024;
const valuesMax = 2_000_000;
const separator = Buffer.from('\n---');
const chunkBytes = 1 << 20;

/** Reads the objects of a file of YAML or JSON documents, or of a CBOR sequence. `-` is the standard input. */
export async function* objectsIn(path: string): AsyncGenerator<Fields> {
  const input = path === '-' ? process.stdin : createReadStream(path, { highWaterMark: chunkBytes });
  const chunks = bounded(input as AsyncIterable<Buffer>);
  let number = 0;
  try {
    const first = await chunks.next();
    if (first.done) throw new DecodeError('it is empty');
    const all = prepended(first.value, chunks);
    for await (const value of isCbor(first.value) ? cborValues(all) : yamlValues(all)) {
      number++;
      if (value === null) continue;
      for (const object of itemsOf(asFields(value))) yield object;
    }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error instanceof ClientError ? error : fileError(path, 'read', error);
    throw new ClientError('Kubeconfig', `${path}, after document ${number}: ${error.message}`, { cause: error });
  }
}

/** A map, or the tag of CBOR: no text in UTF-8 begins with these bytes. */
const isCbor = (bytes: Buffer) => (bytes[0]! >= 0xa0 && bytes[0]! <= 0xbf) || (bytes[0] === 0xd9 && bytes[1] === 0xd9);

async function* bounded(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > fileBytesMax) throw new DecodeError(`the file has more than ${fileBytesMax} bytes`);
    yield chunk;
  }
}

async function* prepended(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}

async function* cborValues(chunks: AsyncIterable<Buffer>): AsyncGenerator<unknown> {
  for await (const { value } of readSequence(chunks)) yield value;
}

/** Yields the documents of YAML, null for empty ones. */
async function* yamlValues(chunks: AsyncIterable<Buffer>): AsyncGenerator<unknown> {
  let rest: Buffer = Buffer.from('\n');
  let searched = 0;
  /** Chunks without a separator, which are joined when one comes. */
  let pieces: Buffer[] = [];
  let pieceBytes = 0;
  let tail: Buffer = rest;
  for await (const chunk of chunks) {
    pieces.push(chunk);
    pieceBytes += chunk.length;
    const joint = Buffer.concat([tail, chunk]);
    tail = joint.subarray(-separator.length);
    if (joint.includes(separator)) {
      rest = Buffer.concat([rest, ...pieces]);
      pieces = [];
      pieceBytes = 0;
    }
    for (let at = rest.indexOf(separator, searched); at >= 0; at = rest.indexOf(separator, searched)) {
      const end = at + separator.length;
      if (end >= rest.length) break;
      searched = end;
      // `---x` is text.
      if (!' \t\r\n'.includes(String.fromCharCode(rest[end]!))) continue;
      yield documentOf(rest.subarray(0, at));
      rest = rest.subarray(end);
      searched = 0;
    }
    searched = Math.max(searched, rest.length - separator.length, 0);
    if (rest.length + pieceBytes > documentBytesMax) {
      throw new DecodeError(`a document has more than ${documentBytesMax} bytes`);
    }
  }
  rest = Buffer.concat([rest, ...pieces]);
  const isMarkerAlone = rest.subarray(-separator.length).equals(separator);
  yield documentOf(isMarkerAlone ? rest.subarray(0, -separator.length) : rest);
}

function documentOf(bytes: Buffer): unknown {
  // "^" is after every "\r" too, so that it must not be in the class: the time would be quadratic.
  const hasContent = /^[ \t]*[^\s#]/m.test(bytes.toString());
  return hasContent ? decodeYaml(bytes, { valuesMax }).value : null;
}

function itemsOf(object: Fields): Fields[] {
  const isList = asText(object['kind']).endsWith('List') && Array.isArray(object['items']);
  return isList ? asItems(object['items']) : [object];
}
