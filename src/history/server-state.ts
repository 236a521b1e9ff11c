import { Readable } from 'node:stream';
import { decodeJson } from '../codec/json.js';
import { ClientError } from '../kubeconfig-client/client-error.js';
import type { KubeconfigClient } from '../kubeconfig-client/kubeconfig-client.js';
import { asFields, asNumber, asText } from '../machinery/fields.js';
import type { JsonValue } from '../machinery/kube-object.js';
import { revisionOf, type Revision } from '../machinery/revision.js';
import { DecodeError } from '../std/decode-error.js';
import type { KeyValue } from '../storage/kv-store.js';
import { readSequence } from './cbor-sequence.js';

/** The state of the store of a server at one revision. */
interface ServerState {
  readonly revision: Revision;
  /** The value of --etcd-prefix of the server. */
  readonly etcdPrefix: string;
  readonly pages: AsyncIterable<readonly KeyValue[]>;
}

interface Page {
  readonly revision: Revision;
  readonly etcdPrefix: string;
  readonly isLast: boolean;
  readonly items: readonly KeyValue[];
}

const path = '/debug/state';

/** Reads the first page of /debug/state; the others are read when they are asked for. Rejects with ClientError. */
export async function readServerState(api: KubeconfigClient, at: string | undefined): Promise<ServerState> {
  const first = await readPage(api, { resourceVersion: at });
  return { revision: first.revision, etcdPrefix: first.etcdPrefix, pages: pagesFrom(api, first) };
}

async function* pagesFrom(api: KubeconfigClient, first: Page): AsyncGenerator<readonly KeyValue[]> {
  for (let page = first; ;) {
    yield page.items;
    if (page.isLast) return;
    const after = page.items.at(-1)?.key;
    if (after === undefined) throw malformed('a page has no keys');
    page = await readPage(api, { resourceVersion: first.revision, after });
  }
}

async function readPage(
  api: KubeconfigClient,
  query: Readonly<Record<string, string | number | undefined>>,
): Promise<Page> {
  const { status, body } = await api.request({ method: 'GET', path, query });
  if (status === 404) {
    throw new ClientError('Status', `the server has no ${path}; it must be a keelson of this version`, { status });
  }
  if (status !== 200) throw refused(status, body);
  try {
    return await pageOf(body);
  } catch (error) {
    throw error instanceof DecodeError ? malformed(error.message) : error;
  }
}

function refused(status: number, body: Buffer): ClientError {
  let message = '';
  try {
    message = asText(asFields(decodeJson(body))['message']);
  } catch {
    // A proxy may answer anything.
  }
  return new ClientError('Status', `GET ${path}: ${message || `status ${status}`}`, { status });
}

async function pageOf(body: Buffer): Promise<Page> {
  let header: Omit<Page, 'items'> | undefined;
  const items: KeyValue[] = [];
  for await (const { value } of readSequence(Readable.from([body]))) {
    if (header) items.push(itemOf(value));
    else header = headerOf(value);
  }
  if (!header) throw malformed('it is empty');
  return { ...header, items };
}

function headerOf(value: JsonValue): Omit<Page, 'items'> {
  const { kind, formatVersion, etcdPrefix, resourceVersion, isLast } = asFields(value);
  if (kind !== 'KeelsonState' || formatVersion !== 1) throw malformed('it is of another version');
  return {
    revision: checkedRevision(Number(asText(resourceVersion))),
    etcdPrefix: asText(etcdPrefix),
    isLast: isLast === true,
  };
}

function itemOf(value: JsonValue): KeyValue {
  const [key, bytes, createRevision, modRevision] = Array.isArray(value) ? value : [];
  if (typeof key !== 'string' || key === '' || typeof bytes !== 'string') throw malformed('a key is not a text');
  return {
    key,
    value: Buffer.from(bytes, 'base64'),
    createRevision: checkedRevision(asNumber(createRevision)),
    modRevision: checkedRevision(asNumber(modRevision)),
  };
}

function checkedRevision(number: number): Revision {
  if (!Number.isSafeInteger(number) || number < 1) throw malformed('a revision is not one');
  return revisionOf(number);
}

const malformed = (problem: string) =>
  new ClientError('Connection', `the answer of ${path} cannot be used: ${problem}`);
