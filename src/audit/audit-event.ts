import { stringifyJson } from '../codec/json.js';
import { goQuote } from '../machinery/field-error.js';
import type { Status } from '../machinery/api-error.js';
import type { UserInfo } from '../machinery/user-info.js';
import type { AuditLevel, AuditStage } from './audit-policy.js';
import { microTime } from './wall-time.js';

/** JSON of an object in pieces, which are bytes that the request or the response consists of. */
export type JsonPieces = readonly Buffer[];

/** A reference to the object of a request. Empty fields are left out. */
export interface ObjectReference {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly resourceVersion: string;
  readonly subresource: string;
}

/** The fields of a Status that an event repeats. */
export type ResponseStatus = Partial<Pick<Status, 'status' | 'message' | 'reason' | 'details'>> & {
  readonly code: number;
};

export interface EventFields {
  readonly level: AuditLevel;
  readonly auditId: string;
  readonly stage: AuditStage;
  readonly requestUri: string;
  readonly verb: string;
  /** Undefined if authentication failed. */
  readonly user: UserInfo | undefined;
  readonly impersonatedUser: UserInfo | undefined;
  readonly impersonationConstraint: string;
  readonly sourceIps: readonly string[];
  readonly userAgent: string;
  readonly objectRef: ObjectReference | undefined;
  readonly responseStatus: ResponseStatus | undefined;
  readonly requestObject: JsonPieces | undefined;
  readonly responseObject: JsonPieces | undefined;
  readonly receivedMicros: number;
  readonly stageMicros: number;
  readonly annotations: ReadonlyMap<string, string>;
}

/** An event of the audit log, encoded: a request at one stage. */
export class AuditEvent {
  readonly level: AuditLevel;
  readonly auditId: string;
  /** JSON without kind and apiVersion, which items of a list do not have. */
  readonly pieces: readonly Buffer[];
  readonly bytes: number;

  constructor(readonly fields: EventFields) {
    this.level = fields.level;
    this.auditId = fields.auditId;
    this.pieces = piecesOf(fields);
    let bytes = 0;
    for (const piece of this.pieces) bytes += piece.length;
    this.bytes = bytes;
  }

  /** Returns the event without its objects, with an annotation that says so. */
  truncated(annotation: string): AuditEvent {
    const annotations = new Map(this.fields.annotations).set(annotation, 'true');
    return new AuditEvent({ ...this.fields, requestObject: undefined, responseObject: undefined, annotations });
  }

  /** Returns the event as one line of text, in the format `legacy`. */
  legacyLine(): string {
    const { user, impersonatedUser, objectRef, responseStatus } = this.fields;
    const groups = (list: readonly string[]) => list.map((group) => goQuote(group)).join(',');
    const isKnown = user !== undefined && user.name !== '';
    const shown = {
      id: this.auditId,
      stage: this.fields.stage,
      ip: this.fields.sourceIps[0] ?? '<unknown>',
      method: this.fields.verb,
      user: isKnown ? user.name : '<none>',
      groups: isKnown && user.groups.length > 0 ? groups(user.groups) : '<none>',
      as: impersonatedUser?.name ?? '<self>',
      asgroups: impersonatedUser ? groups(impersonatedUser.groups) : '<lookup>',
      'user-agent': this.fields.userAgent,
      namespace: objectRef?.namespace ? objectRef.namespace : '<none>',
      uri: this.fields.requestUri,
    };
    const text = Object.entries(shown).map(([name, value]) => `${name}=${goQuote(value)}`);
    const code = responseStatus ? String(responseStatus.code) : '<deferred>';
    return `${shortTime(this.fields.receivedMicros)} AUDIT: ${text.join(' ')} response="${code}"\n`;
  }
}

/** Formats a time without trailing zeros, as Go does: `2026-01-01T00:00:00.12Z`. */
function shortTime(micros: number): string {
  return microTime(micros).replace(/\.?0*Z$/, 'Z');
}

function piecesOf(fields: EventFields): Buffer[] {
  const { requestObject, responseObject } = fields;
  let text = headOf(fields);
  const pieces: Buffer[] = [];
  const add = (name: string, object: JsonPieces) => {
    pieces.push(Buffer.from(`${text},"${name}":`), ...object);
    text = '';
  };
  if (requestObject) add('requestObject', requestObject);
  if (responseObject) add('responseObject', responseObject);
  const times = `,"requestReceivedTimestamp":"${microTime(fields.receivedMicros)}","stageTimestamp":"${microTime(fields.stageMicros)}"`;
  pieces.push(Buffer.from(`${text}${times}${annotationsOf(fields.annotations)}}`));
  return pieces;
}

/** Returns the fields before the objects, without the brace that opens the event. */
function headOf(fields: EventFields): string {
  const { impersonatedUser, impersonationConstraint, sourceIps, userAgent, objectRef, responseStatus } = fields;
  let text =
    `"level":"${fields.level}","auditID":${stringifyJson(fields.auditId)},"stage":"${fields.stage}"` +
    `,"requestURI":${stringifyJson(fields.requestUri)},"verb":${stringifyJson(fields.verb)},"user":${userJson(fields.user)}`;
  if (impersonatedUser) text += `,"impersonatedUser":${userJson(impersonatedUser)}`;
  if (impersonationConstraint !== '') {
    text += `,"authenticationMetadata":{"impersonationConstraint":${stringifyJson(impersonationConstraint)}}`;
  }
  if (sourceIps.length > 0) text += `,"sourceIPs":["${sourceIps.join('","')}"]`;
  if (userAgent !== '') text += `,"userAgent":${stringifyJson(userAgent)}`;
  if (objectRef) text += `,"objectRef":${referenceJson(objectRef)}`;
  if (responseStatus) text += `,"responseStatus":${statusJson(responseStatus)}`;
  return text;
}

const userTexts = new WeakMap<UserInfo, string>();

/** Authenticators return one object for many requests. */
function userJson(user: UserInfo | undefined): string {
  if (!user) return '{}';
  let text = userTexts.get(user);
  if (text === undefined) {
    const { name, uid, groups, extra } = user;
    text = stringifyJson({
      ...(name !== '' && { username: name }),
      ...(uid !== '' && { uid }),
      ...(groups.length > 0 && { groups }),
      ...(Object.keys(extra).length > 0 && { extra }),
    });
    userTexts.set(user, text);
  }
  return text;
}

function referenceJson(reference: ObjectReference): string {
  let text = '';
  const add = (name: string, value: string) => {
    if (value !== '') text += `${text === '' ? '' : ','}"${name}":${stringifyJson(value)}`;
  };
  add('resource', reference.resource);
  add('namespace', reference.namespace);
  add('name', reference.name);
  add('uid', reference.uid);
  add('apiGroup', reference.apiGroup);
  add('apiVersion', reference.apiVersion);
  add('resourceVersion', reference.resourceVersion);
  add('subresource', reference.subresource);
  return `{${text}}`;
}

function statusJson({ status, message, reason, details, code }: ResponseStatus): string {
  return status === undefined && message === undefined
    ? `{"metadata":{},"code":${code}}`
    : stringifyJson({
        metadata: {},
        ...(status && { status }),
        ...(message && { message }),
        ...(reason && { reason }),
        ...(details && { details }),
        code,
      });
}

/** Sorted by key, as Go encodes maps. */
function annotationsOf(annotations: ReadonlyMap<string, string>): string {
  if (annotations.size === 0) return '';
  const entries = [...annotations].sort(([a], [b]) => (a < b ? -1 : 1));
  return `,"annotations":{${entries.map(([key, value]) => `${stringifyJson(key)}:${stringifyJson(value)}`).join(',')}}`;
}
