import type { IncomingHttpHeaders } from 'node:http';
import { encodeJson } from '../codec/json.js';
import { withoutManagedFields } from '../codec/without-managed-fields.js';
import { headerText } from '../machinery/header-text.js';
import { isLongRunning, type RequestInfo } from '../machinery/request-info.js';
import { asFields, isSet } from '../machinery/fields.js';
import type { KubeObject } from '../machinery/kube-object.js';
import type { Status } from '../machinery/api-error.js';
import type { UserInfo } from '../machinery/user-info.js';
import { canonicalDuration } from '../typed/go-duration.js';
import type { RequestRecord } from '../registry/request-record.js';
import type { JsonPieces, ObjectReference, ResponseStatus } from './audit-event.js';
import type { AuditDecision, AuditStage } from './audit-policy.js';
import type { Auditor } from './auditor.js';
import { sourceAddresses } from './source-addresses.js';

/** A request as the audit log sees it. */
interface AuditedRequest {
  readonly info: RequestInfo;
  readonly auditId: string;
  readonly startMs: number;
  readonly user: UserInfo;
  readonly impersonator: UserInfo | undefined;
  readonly impersonationConstraint: string;
  readonly auditAnnotations: Map<string, string>;
  /** Ends the running step of the request. */
  endSteps(nowMs: number): void;
  durationsMs(): Readonly<Record<string, number | undefined>>;
}

interface HttpPart {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly peer: string | undefined;
}

/** The content of a response, for its event. */
interface AnswerRecord {
  readonly status?: Status | undefined;
  /** The object, if the level wants it. */
  readonly object?: JsonPieces | undefined;
  readonly hasManagedFieldsRemoved?: boolean;
}

/** In the order of kube-apiserver. */
const optionNames = [
  'gracePeriodSeconds',
  'preconditions',
  'orphanDependents',
  'propagationPolicy',
  'dryRun',
  'ignoreStoreReadErrorWithClusterBreakingPotential',
];
/** As in kube-apiserver. */
const slowRequestMs = 500;
/** The steps that are layers of kube-apiserver. */
const layerOfStep = {
  authentication: 'authentication',
  impersonation: 'impersonation',
  flowControl: 'apf-queue-wait',
  authorization: 'authorization',
  decode: 'decode-response-object',
  store: 'etcd',
  encode: 'serialize-response-object',
};
const noAnswer: AnswerRecord = {};
const userAgentLengthMax = 1024;
const cutMark = '...TRUNCATED';
const lineFeed = 0x0a;

/** Records one request: an event at each of its stages that the policy does not omit. */
export class RequestAudit implements RequestRecord {
  private decision: AuditDecision | undefined = undefined;
  /** True once the user is known. Requests that fail before have one event. */
  private isAuthenticated = false;
  private reference: ObjectReference | undefined;
  private requestObject: JsonPieces | undefined = undefined;
  private status: ResponseStatus | undefined = undefined;
  private responseObject: JsonPieces | undefined = undefined;
  private answer: AnswerRecord = noAnswer;
  /** True if no further event follows. */
  isComplete = false;
  private readonly sourceIps: readonly string[];
  private readonly userAgent: string;

  constructor(
    private readonly auditor: Auditor,
    private readonly request: AuditedRequest,
    private readonly http: HttpPart,
  ) {
    const { info } = request;
    this.reference = info.isResourceRequest ? referenceOf(info) : undefined;
    this.sourceIps = sourceAddresses(http.headers, http.peer);
    this.userAgent = userAgentOf(http.headers);
  }

  /** True if the events have the object of the request. */
  get takesRequests(): boolean {
    const level = this.decision?.level;
    return level === 'Request' || level === 'RequestResponse';
  }

  /** True if the events have the object of the response. */
  get takesAnswers(): boolean {
    return this.decision?.level === 'RequestResponse' && !this.isComplete;
  }

  get omitsManagedFields(): boolean {
    return this.decision?.omitManagedFields === true;
  }

  /** True once a stream has begun, whose end is recorded when it closes. */
  get isStream(): boolean {
    return !this.isComplete && this.status !== undefined;
  }

  /**
   * Decides about an authenticated request, and records that it was received. Returns undefined if nothing is recorded;
   * true or a promise as Auditor.record().
   */
  begin(): undefined | true | Promise<boolean> {
    this.isAuthenticated = true;
    this.decision = this.auditor.decide(this.request.info, this.request.user);
    if (this.decision.level === 'None') {
      this.isComplete = true;
      return undefined;
    }
    return this.record('RequestReceived');
  }

  /** Ends the events of a request that is refused because they cannot be written. */
  reject(): void {
    this.isComplete = true;
    this.auditor.rejected();
  }

  /** Notes the object of the request, before it is changed. */
  submitted(object: KubeObject): void {
    const { name, namespace, uid, resourceVersion } = object.metadata ?? {};
    const { reference } = this;
    if (reference) {
      this.reference = {
        ...reference,
        namespace: reference.namespace || (namespace ?? ''),
        name: reference.name || (name ?? ''),
        uid: uid ?? '',
        resourceVersion: resourceVersion ?? '',
      };
    }
    if (this.takesRequests) this.noteRequest(encodeJson(object));
  }

  /** Notes the JSON of a patch. */
  patched(json: Buffer): void {
    if (this.takesRequests) this.noteRequest(onOneLine(json));
  }

  /** Notes DeleteOptions. */
  optionsSent(sent: unknown): void {
    if (!this.takesRequests) return;
    const options: Record<string, unknown> = { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/__internal' };
    const fields = asFields(sent);
    for (const name of optionNames) if (isSet(fields[name])) options[name] = fields[name];
    this.noteRequest(encodeJson(options));
  }

  /** Notes the content of the response that is sent next; it replaces that of an earlier call. */
  noteAnswer(record: AnswerRecord): void {
    this.answer = record;
  }

  /** Records a response that is sent as a whole. Returns a promise if it has to wait for the log. */
  answered(code: number): undefined | Promise<unknown> {
    if (this.isComplete) return undefined;
    const { status, object, hasManagedFieldsRemoved } = this.answer;
    this.status = statusOf(code, status);
    if (!this.isAuthenticated) {
      this.isComplete = true;
      this.decision = this.auditor.decide(this.request.info, undefined);
      return this.decision.level === 'None' ? undefined : pending(this.record('ResponseStarted'));
    }
    if (object && this.takesAnswers) {
      const removes = this.omitsManagedFields && !hasManagedFieldsRemoved;
      this.responseObject = removes ? [withoutManagedFields(Buffer.concat(object))] : object;
    }
    const started = isLongRunning(this.request.info) ? pending(this.record('ResponseStarted')) : undefined;
    const ended = this.complete('ResponseComplete');
    return started && ended ? Promise.all([started, ended]) : (started ?? ended);
  }

  /** Records the head of a stream, whose end is recorded by ended(). */
  started(code: number): undefined | Promise<unknown> {
    if (this.isComplete) return undefined;
    this.status = { code };
    return pending(this.record('ResponseStarted'));
  }

  /** Records the end of a stream, or that the server has sent no response. */
  ended(): void {
    if (this.isComplete || !this.isAuthenticated) return;
    if (!this.status) {
      this.status = { status: 'Success', message: 'Connection closed early', code: 200 };
      if (isLongRunning(this.request.info)) void this.record('ResponseStarted');
    }
    void this.complete('ResponseComplete');
  }

  /** Records an error of the server that no code expects. */
  panicked(reason: string): undefined | Promise<unknown> {
    if (this.isComplete || !this.isAuthenticated) return undefined;
    const message = `APIServer panic'd: ${reason}`;
    this.status = { status: 'Failure', reason: 'InternalError', message, code: 500 };
    return this.complete('Panic');
  }

  private noteRequest(json: Buffer): void {
    if (!this.isComplete) this.requestObject = [this.omitsManagedFields ? withoutManagedFields(json) : json];
  }

  /** Annotates a slow request with the durations of its steps, as kube-apiserver does. */
  private addLatencies(): void {
    const { request, auditor } = this;
    const elapsedMs = auditor.nowMs - request.startMs;
    if (elapsedMs <= slowRequestMs || isLongRunning(request.info)) return;
    request.endSteps(auditor.nowMs);
    const annotate = (layer: string, ms: number) =>
      request.auditAnnotations.set(`${auditor.latencyPrefix}${layer}`, canonicalDuration(`${ms.toFixed(3)}ms`));
    const durations = request.durationsMs();
    for (const [step, layer] of Object.entries(layerOfStep)) {
      const ms = durations[step];
      if (ms !== undefined) annotate(layer, ms);
    }
    annotate('total', elapsedMs);
  }

  private complete(stage: AuditStage): undefined | Promise<unknown> {
    this.isComplete = true;
    if (stage === 'ResponseComplete') this.addLatencies();
    return pending(this.record(stage));
  }

  private record(stage: AuditStage): true | Promise<boolean> {
    const { auditor, request, http } = this;
    const { level, omitStages } = this.decision!;
    if (omitStages.has(stage)) return true;
    const { user, impersonator } = request;
    const receivedMicros = auditor.time.microsOf(request.startMs);
    return auditor.record({
      level,
      auditId: request.auditId,
      stage,
      requestUri: http.url,
      verb: request.info.verb,
      user: this.isAuthenticated ? (impersonator ?? user) : undefined,
      impersonatedUser: impersonator ? user : undefined,
      impersonationConstraint: request.impersonationConstraint,
      sourceIps: this.sourceIps,
      userAgent: this.userAgent,
      objectRef: this.reference,
      responseStatus: this.status,
      requestObject: this.requestObject,
      responseObject: this.responseObject,
      receivedMicros,
      stageMicros: stage === 'RequestReceived' ? receivedMicros : auditor.time.nowMicros(),
      annotations: request.auditAnnotations,
    });
  }
}

/** Returns JSON on one line. In valid JSON, line ends are never part of a text. */
function onOneLine(json: Buffer): Buffer {
  if (!json.includes(lineFeed) && !json.includes(0x0d)) return json;
  return Buffer.from(json.map((byte) => (byte === lineFeed || byte === 0x0d ? 0x20 : byte)));
}

const pending = (result: true | Promise<boolean>): undefined | Promise<boolean> =>
  result === true ? undefined : result;

function referenceOf({ resource, namespace, name, group, version, subresource }: RequestInfo): ObjectReference {
  return { resource, namespace, name, uid: '', apiGroup: group, apiVersion: version, resourceVersion: '', subresource };
}

function statusOf(code: number, status: Status | undefined): ResponseStatus {
  if (!status) return { code };
  const { status: result, message, reason, details } = status;
  return {
    status: result,
    code,
    ...(message !== undefined && { message }),
    ...(reason !== undefined && { reason }),
    ...(details && { details }),
  };
}

function userAgentOf(headers: IncomingHttpHeaders): string {
  const sent = headers['user-agent'] ?? '';
  const text = headerText(sent) ?? sent;
  return text.length > userAgentLengthMax ? text.slice(0, userAgentLengthMax) + cutMark : text;
}
