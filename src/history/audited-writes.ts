import { createReadStream } from 'node:fs';
import { decodeJson } from '../codec/json.js';
import { ClientError, reasonOf } from '../kubeconfig-client/client-error.js';
import { asFields, asNumber, asText, type Fields } from '../machinery/fields.js';
import type { ObjectRevision } from './object-history.js';

/** A write of one object in an audit log. */
interface AuditedWrite {
  readonly verb: string;
  /** `ann`, or `ann as bob` for an impersonated user. */
  readonly user: string;
  readonly receivedMs: number;
  readonly doneMs: number;
  /** Name of the field manager if the request has one, or the program of the user agent. */
  readonly manager: string;
  /** Of the answer, which the level RequestResponse records; empty otherwise. */
  readonly resourceVersion: string;
}

interface AuditedObject {
  readonly group: string;
  readonly resource: string;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
}

/** Longer lines are skipped: an object has at most 3 MiB, and an event two of them. */
const lineBytesMax = 16 * 1024 * 1024;
const newline = 10;
const writeVerbs = ['create', 'update', 'patch', 'delete'];

/** Reads the successful writes of an object from an audit log with one JSON event a line. Skips other lines. */
export async function auditedWrites(file: string, object: AuditedObject): Promise<AuditedWrite[]> {
  const writes: AuditedWrite[] = [];
  const name = Buffer.from(`"${object.name}"`);
  try {
    for await (const line of linesOf(file)) {
      const write = line.includes(name) ? writeOf(line, object) : undefined;
      if (write) writes.push(write);
    }
  } catch (error) {
    throw new ClientError('Kubeconfig', `the audit log ${file} cannot be read: ${reasonOf(error)}`, { cause: error });
  }
  return writes;
}

async function* linesOf(file: string): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let length = 0;
  for await (let chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline)) {
      if (length <= lineBytesMax) yield Buffer.concat([...chunks, chunk.subarray(0, end)]);
      chunks = [];
      length = 0;
      chunk = chunk.subarray(end + 1);
    }
    length += chunk.length;
    if (length > lineBytesMax) chunks = [];
    else if (chunk.length > 0) chunks.push(chunk);
  }
  if (length > 0 && length <= lineBytesMax) yield Buffer.concat(chunks);
}

function writeOf(line: Buffer, object: AuditedObject): AuditedWrite | undefined {
  let event: Fields;
  try {
    event = asFields(decodeJson(line));
  } catch {
    return undefined;
  }
  const reference = asFields(event['objectRef']);
  const { apiGroup, resource, namespace, name } = reference;
  const isObject =
    asText(apiGroup) === object.group &&
    resource === object.resource &&
    asText(namespace) === object.namespace &&
    asText(name) === object.name;
  const [verb, uri] = [asText(event['verb']), asText(event['requestURI'])];
  const code = asNumber(asFields(event['responseStatus'])['code']);
  const isWrite = writeVerbs.includes(verb) && code >= 200 && code < 300 && !uri.includes('dryRun=');
  if (!isObject || !isWrite || event['stage'] !== 'ResponseComplete') return undefined;
  const user = asText(asFields(event['user'])['username']);
  const impersonated = asText(asFields(event['impersonatedUser'])['username']);
  return {
    verb,
    user: impersonated === '' ? user : `${user} as ${impersonated}`,
    receivedMs: Date.parse(asText(event['requestReceivedTimestamp'])),
    doneMs: Date.parse(asText(event['stageTimestamp'])),
    manager: managerOf(uri) || asText(event['userAgent']).split('/')[0]!,
    resourceVersion: asText(asFields(asFields(event['responseObject'])['metadata'])['resourceVersion']),
  };
}

const managerOf = (uri: string) => new URLSearchParams(uri.split('?')[1] ?? '').get('fieldManager') ?? '';

/**
 * Returns the user of each revision, or an empty text: the write with its resourceVersion if the log has answers, otherwise
 * a write in its second, of its manager if there are several. No write is used twice.
 */
export function usersOf(revisions: readonly ObjectRevision[], writes: readonly AuditedWrite[]): string[] {
  const left = new Set(writes);
  const users: string[] = revisions.map(() => '');
  const use = (index: number, write: AuditedWrite | undefined) => {
    if (!write) return;
    users[index] = write.user;
    left.delete(write);
  };
  const byVersion = new Map(writes.map((write) => [write.resourceVersion, write]));
  byVersion.delete('');
  for (const [index, { resourceVersion }] of revisions.entries()) use(index, byVersion.get(resourceVersion));
  let latestMs = 0;
  for (const [index, revision] of revisions.entries()) {
    const secondMs = Date.parse(revision.time);
    if (Number.isFinite(secondMs)) latestMs = secondMs;
    if (users[index] !== '') continue;
    if (revision.change === 'deleted') {
      use(
        index,
        [...left].find(({ verb, doneMs }) => verb === 'delete' && doneMs >= latestMs),
      );
      continue;
    }
    const candidates = [...left].filter(
      ({ verb, receivedMs, doneMs }) =>
        verb !== 'delete' &&
        (verb === 'create') === (revision.change === 'created') &&
        (Number.isFinite(secondMs) ? receivedMs < secondMs + 1_000 && doneMs >= secondMs : doneMs >= latestMs),
    );
    const byManager = candidates.find(({ manager }) => revision.writers.some((one) => one.manager === manager));
    use(index, byManager ?? candidates[0]);
  }
  return users;
}
