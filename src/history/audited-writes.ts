import { decodeJson } from '../codec/json.js';
import { asFields, asNumber, asText, type Fields } from '../machinery/fields.js';
import { auditLogLines } from './audit-log-lines.js';

/** A write of one object in an audit log. */
export interface AuditedWrite {
  readonly verb: string;
  readonly effect: 'create' | 'change' | 'delete';
  /** `ann`, or `ann as bob` for an impersonated user. */
  readonly user: string;
  /** When the request was received. */
  readonly time: string;
  readonly auditID: string;
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
  /** Name of the logical cluster; empty for the root and for other servers. */
  readonly cluster: string;
}

/** Subresources whose requests do not write the object. */
const withoutWrites = new Set(['token', 'proxy', 'exec', 'attach', 'portforward']);

/** Returns the logical cluster of the URL of a request, empty for the root. */
export const clusterOf = (url: string): string => /^\/clusters\/([^/?]+)/.exec(url)?.[1] ?? '';

const writeVerbs = ['create', 'update', 'patch', 'delete'];

interface Reading {
  /** The beginning of the history: earlier writes are left out, and older files are not read. */
  readonly sinceMs: number;
  /** Gets a line about a rotated file that cannot be read to its end. */
  readonly tell: (line: string) => void;
}

/**
 * Reads the successful writes of an object from an audit log with one JSON event a line, and from its rotated files. Skips
 * other lines.
 */
export async function auditedWrites(
  file: string,
  object: AuditedObject,
  { sinceMs, tell }: Reading,
): Promise<AuditedWrite[]> {
  const writes: AuditedWrite[] = [];
  // Names of RBAC objects may have characters that JSON escapes.
  const name = /^[\w.:-]+$/.test(object.name) ? Buffer.from(`"${object.name}"`) : undefined;
  const damaged = (path: string, reason: string) => tell(`${path} cannot be read to its end: ${reason}`);
  for await (const line of auditLogLines(file, { sinceMs, damaged })) {
    const write = name === undefined || line.includes(name) ? writeOf(line, object) : undefined;
    if (write && write.doneMs >= sinceMs) writes.push(write);
  }
  return writes;
}

function writeOf(line: Buffer, object: AuditedObject): AuditedWrite | undefined {
  let event: Fields;
  try {
    event = asFields(decodeJson(line));
  } catch {
    return undefined;
  }
  const { apiGroup, resource, subresource, namespace, name } = asFields(event['objectRef']);
  const answer = asFields(asFields(event['responseObject'])['metadata']);
  const isObject =
    asText(apiGroup) === object.group &&
    resource === object.resource &&
    asText(namespace) === object.namespace &&
    // The server has chosen the name of an object with generateName.
    (asText(name) || asText(answer['name'])) === object.name &&
    !withoutWrites.has(asText(subresource)) &&
    clusterOf(asText(event['requestURI'])) === object.cluster;
  const [verb, uri] = [asText(event['verb']), asText(event['requestURI'])];
  const code = asNumber(asFields(event['responseStatus'])['code']);
  const isWrite = writeVerbs.includes(verb) && code >= 200 && code < 300 && !uri.includes('dryRun=');
  if (!isObject || !isWrite || event['stage'] !== 'ResponseComplete') return undefined;
  const [receivedMs, doneMs] = [timeIn(event, 'requestReceivedTimestamp'), timeIn(event, 'stageTimestamp')];
  if (!Number.isFinite(receivedMs) || !Number.isFinite(doneMs)) return undefined;
  const user = asText(asFields(event['user'])['username']);
  const impersonated = asText(asFields(event['impersonatedUser'])['username']);
  return {
    verb,
    effect: effectOf(verb, asText(subresource), code),
    user: impersonated === '' ? user : `${user} as ${impersonated}`,
    time: asText(event['requestReceivedTimestamp']),
    auditID: asText(event['auditID']),
    receivedMs,
    doneMs,
    manager: managerOf(uri) || asText(event['userAgent']).split('/')[0]!,
    resourceVersion: asText(answer['resourceVersion']),
  };
}

/** An apply, patch or update may create the object (201); an eviction deletes it; a binding changes it. */
function effectOf(verb: string, subresource: string, code: number): AuditedWrite['effect'] {
  if (verb === 'delete' || subresource === 'eviction') return 'delete';
  return subresource === '' && (verb === 'create' || code === 201) ? 'create' : 'change';
}

const timeIn = (event: Fields, name: string) => Date.parse(asText(event[name]));

const managerOf = (uri: string) => new URLSearchParams(uri.split('?')[1] ?? '').get('fieldManager') ?? '';
