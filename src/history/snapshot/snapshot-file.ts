import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { ClientError, codeOf } from '../../kubeconfig-client/client-error.js';
import { asFields, asNumber, asText, asTexts, type Fields } from '../../machinery/fields.js';
import { DecodeError } from '../../std/decode-error.js';
import { readSequence } from '../cbor-sequence.js';
import { existsError, fileError, NewFile } from '../own-file.js';

/**
 * A snapshot file is a CBOR sequence: the header, the objects as the API returns them, and the end with the number of
 * objects and the SHA-256 of all bytes before it. Without its end it is cut off.
 */
interface SnapshotHeader {
  readonly savedAt: string;
  readonly resourceVersion: string;
  readonly serverVersion: string;
  /** The kinds that were read, also those without objects: `apps/v1 Deployment`. */
  readonly kinds: readonly string[];
}

const headerKind = 'KeelsonSnapshot';
const endKind = 'KeelsonSnapshotEnd';
const formatVersion = 1;
/** Tag 55799, which marks CBOR for programs that recognize files by their first bytes. */
const selfDescribed = Buffer.from([0xd9, 0xd9, 0xf7]);

/** Returns an encoder of JSON values with text strings. */
export async function cborEncoder(): Promise<(value: unknown) => Buffer> {
  const { Encoder } = await import('cbor-x');
  const encoder = new Encoder({ useRecords: false, variableMapSize: true, mapsAsObjects: true });
  return (value) => Buffer.from(encoder.encode(value));
}

/** Writes a snapshot and returns the number of its objects. Replaces an older snapshot, and other files if `force`. */
export async function writeSnapshot(
  path: string,
  header: SnapshotHeader,
  objects: AsyncIterable<Fields>,
  { force }: { readonly force: boolean },
): Promise<number> {
  const replaces = await mayReplace(path, force);
  const encode = await cborEncoder();
  const hash = createHash('sha256');
  const file = await NewFile.create(path);
  const write = async (bytes: Buffer) => {
    hash.update(bytes);
    await file.write(bytes);
  };
  try {
    await write(Buffer.concat([selfDescribed, encode({ kind: headerKind, formatVersion, ...header })]));
    let count = 0;
    for await (const object of objects) {
      await write(encode(object));
      count++;
    }
    await file.write(encode({ kind: endKind, objects: count, sha256: hash.digest('hex') }));
    await file.finish({ replaces });
    return count;
  } catch (error) {
    await file.discard();
    throw error;
  }
}

/** True if a file exists that may be replaced. Rejects if it may not. */
async function mayReplace(path: string, force: boolean): Promise<boolean> {
  try {
    const found = await stat(path);
    if (!found.isFile()) throw new ClientError('Kubeconfig', `${path} is not a file; name another one`);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error instanceof ClientError ? error : fileError(path, 'written', error);
  }
  if (force) return true;
  const reader = new SnapshotReader(path);
  if (
    !(await reader.header().then(
      () => true,
      () => false,
    ))
  )
    throw existsError(path);
  return true;
}

/** Reads a snapshot file that may be damaged or hostile. Rejects with ClientError. */
export class SnapshotReader {
  constructor(readonly path: string) {}

  async header(): Promise<SnapshotHeader> {
    for await (const item of this.items()) return headerOf(item, this.path);
    throw this.error('it is empty');
  }

  /** Reads all objects. What was yielded before an error may be damaged: use nothing of it. */
  async *objects(): AsyncGenerator<Fields> {
    let count = -1;
    for await (const item of this.items()) {
      if (count++ < 0) headerOf(item, this.path);
      else yield item;
    }
  }

  /** Yields the header and the objects, and checks the end. */
  private async *items(): AsyncGenerator<Fields> {
    const hash = createHash('sha256');
    let end: Fields | undefined;
    let count = 0;
    try {
      for await (const { bytes, value } of readSequence(createReadStream(this.path, { highWaterMark: 1 << 20 }))) {
        if (end) throw new DecodeError('it goes on after its end');
        const item = asFields(value);
        if (item['kind'] === endKind) end = item;
        else {
          hash.update(bytes);
          count++;
          yield item;
        }
      }
    } catch (error) {
      throw error instanceof DecodeError ? this.error(error.message) : fileError(this.path, 'read', error);
    }
    if (!end) throw this.error('its end is missing');
    if (asNumber(end['objects']) !== count - 1) throw this.error('objects are missing');
    if (end['sha256'] !== hash.digest('hex')) throw this.error('its checksum does not match');
  }

  private error(problem: string): ClientError {
    return new ClientError('Kubeconfig', `${this.path} is not a snapshot, or is damaged: ${problem}`);
  }
}

function headerOf(item: Fields, path: string): SnapshotHeader {
  if (item['kind'] !== headerKind) throw new ClientError('Kubeconfig', `${path} is not a snapshot of keelson`);
  if (item['formatVersion'] !== formatVersion) {
    throw new ClientError('Kubeconfig', `${path} was written in another format than ${formatVersion}`);
  }
  return {
    savedAt: asText(item['savedAt']),
    resourceVersion: asText(item['resourceVersion']),
    serverVersion: asText(item['serverVersion']),
    kinds: asTexts(item['kinds']),
  };
}
