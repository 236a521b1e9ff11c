import type { FastifyReply, FastifyRequest } from 'fastify';
import type { EncodedObject } from '../cache/encoded-object.js';
import { json } from '../codec/encodings.js';
import { encodeJson } from '../codec/json.js';
import { wantsPretty } from '../codec/negotiate.js';
import type { Limits } from '../config/limits.js';
import { noteList, auditedObject, noteValue } from './audited-answer.js';
import { headersFor, sendBytes } from './answer.js';
import { ApiError } from '../machinery/api-error.js';
import type { IncludeObject, ListMeta } from './common-shapes.js';
import { Renderings, type Representation } from './rendering.js';
import type { ResourceDefinition } from '../registry/definition/resource-definition.js';
import type { Clock } from '../std/clock.js';
import { LoopYieldTimer } from '../std/loop-yield-timer.js';
import { YieldTimer } from '../std/yield-timer.js';
import type { KubeObject } from '../machinery/kube-object.js';
import type { VerbAnswer } from '../verbs/verb.js';
import { sendList, workSliceMs } from './list-stream.js';
import { asCompressed, compressed, compressedBytesMin, mayCompress } from './compression.js';

export interface ResourceAnswerDependencies {
  readonly renderings: (definition: ResourceDefinition) => Renderings;
  readonly compressionEnabled: boolean;
  readonly limits: Pick<Limits, 'listChunkBytesMax'>;
  readonly clock: Clock;
}

/** Sends the result of a verb in the encoding and transformation (Table, PartialObjectMetadata) that was negotiated. */
export class ResourceAnswers {
  constructor(private readonly dependencies: ResourceAnswerDependencies) {}

  representation(request: FastifyRequest): Representation {
    const { output, info } = request.kube;
    const { query } = info;
    return {
      encoding: output!.encoding,
      pretty:
        output!.pretty ||
        wantsPretty(query.raw === '' ? undefined : query.first('pretty'), request.raw.headers['user-agent']),
      transform: output!.transform,
      includeObject: includeObjectOf(query.raw === '' ? undefined : query.first('includeObject')),
    };
  }

  compresses(request: FastifyRequest): boolean {
    return this.dependencies.compressionEnabled && mayCompress(request);
  }

  send(
    request: FastifyRequest,
    reply: FastifyReply,
    definition: ResourceDefinition,
    answer: VerbAnswer,
  ): void | Promise<void> {
    const representation = this.representation(request);
    const renderings = this.dependencies.renderings(definition);
    const isIdentity = answer.type === 'stored' && renderings.isIdentity(representation);
    // Bytes that are sent as they are begin a step only for a trace, since that reads the clock.
    if (!isIdentity || request.kube.trace) request.kube.begin('encode');
    const { audit } = request.kube;
    if (request.kube.explanation) return this.explain(request, reply, renderings, answer);
    if (answer.type === 'stored') {
      const ready = renderings.ready([answer.encoded], this.dependencies.clock, request.kube.trace);
      if (ready) return ready.then(() => this.send(request, reply, definition, answer));
      if (audit?.takesAnswers) audit.noteAnswer({ object: auditedObject(renderings, answer.encoded, representation) });
      if (!isIdentity && answer.encoded.isLarge)
        return this.sendLarge(request, reply, answer, renderings, representation);
      const bytes = isIdentity ? answer.encoded.bytes : renderings.objectBytes(answer.encoded, representation);
      return this.sendBody(request, reply, answer.code, representation.encoding.mediaType, bytes);
    }
    if (answer.type === 'computed') {
      const shaped = Renderings.isPlainJson(representation)
        ? answer.object
        : renderings.shaped(answer.object, representation);
      return this.sendValue(request, reply, answer.code, shaped, representation);
    }
    if (answer.type === 'nothing') {
      const { 'content-type': _type, ...headers } = headersFor(request, '');
      return sendBytes(request, reply, answer.code, headers, nothing);
    }
    if (answer.type === 'status')
      return this.sendValue(request, reply, answer.status.code ?? 200, answer.status, representation);
    if (answer.type === 'forward') throw ApiError.internal('an answer of another server has no object');
    if (answer.type === 'list') {
      const { revision, continueToken } = answer;
      const meta: ListMeta = {
        resourceVersion: String(revision),
        ...(continueToken !== undefined && { continue: continueToken }),
      };
      return this.sendList(request, reply, definition, meta, answer.objects);
    }
    const list = renderings.shapedList(answer.objects, {}, representation);
    return this.sendValue(request, reply, 200, list, representation);
  }

  private async explain(
    request: FastifyRequest,
    reply: FastifyReply,
    renderings: Renderings,
    answer: VerbAnswer,
  ): Promise<void> {
    if (answer.type === 'status') return this.sendExplanation(request, reply, answer.status.code ?? 200, answer.status);
    if (answer.type === 'computed') return this.sendExplanation(request, reply, answer.code, answer.object);
    if (answer.type !== 'stored') return this.sendExplanation(request, reply, 200, null);
    await renderings.ready([answer.encoded], this.dependencies.clock, request.kube.trace);
    this.sendExplanation(request, reply, answer.code, renderings.parse(answer.encoded));
  }

  /** Sends the steps of admission, with the answer that the client would have got otherwise. */
  sendExplanation(request: FastifyRequest, reply: FastifyReply, code: number, answer: unknown): void {
    const { explanation, warnings } = request.kube;
    const body = {
      kind: 'AdmissionExplanation',
      apiVersion: 'keelson/v1',
      steps: explanation?.steps ?? [],
      warnings,
      code,
      answer,
    };
    sendBytes(request, reply, code, headersFor(request, json.mediaType), encodeJson(body));
  }

  /** Sends encoded objects as a list. */
  async sendList(
    request: FastifyRequest,
    reply: FastifyReply,
    definition: ResourceDefinition,
    meta: ListMeta,
    objects: readonly EncodedObject[],
  ): Promise<void> {
    const { clock, limits } = this.dependencies;
    request.kube.begin('encode');
    const representation = this.representation(request);
    const renderings = this.dependencies.renderings(definition);
    const ready = renderings.ready(objects, clock, request.kube.trace);
    if (ready) await ready;
    const joined = renderings.joinedList(representation, objects.length);
    const { audit } = request.kube;
    if (joined) {
      if (audit?.takesAnswers) await noteList(audit, renderings, representation, meta, objects, clock);
      const options = { sliceBytes: limits.listChunkBytesMax, compresses: this.compresses(request), clock };
      return sendList(request, reply, joined, meta, objects, options);
    }
    const yieldTimer = new LoopYieldTimer(clock, workSliceMs);
    const parsed: KubeObject[] = [];
    for (const object of objects) {
      parsed.push(renderings.parse(object));
      if (yieldTimer.isDue()) await yieldTimer.yield();
    }
    return this.sendValue(request, reply, 200, renderings.shapedList(parsed, meta, representation), representation);
  }

  private async sendLarge(
    request: FastifyRequest,
    reply: FastifyReply,
    { encoded, code }: VerbAnswer & { readonly type: 'stored' },
    renderings: Renderings,
    representation: Representation,
  ): Promise<void> {
    const timer = new YieldTimer(this.dependencies.clock);
    const bytes = await timer.run(renderings.objectBytesInSteps(encoded, representation));
    if (timer.isDue()) await timer.yield();
    await this.sendBody(request, reply, code, representation.encoding.mediaType, bytes);
  }

  sendValue(
    request: FastifyRequest,
    reply: FastifyReply,
    code: number,
    value: unknown,
    representation: Representation,
  ): void | Promise<void> {
    const { encoding, pretty } = representation;
    const body = encoding.encode(value, { pretty });
    const { audit } = request.kube;
    if (audit) noteValue(audit, value, body, representation);
    return this.sendBody(request, reply, code, encoding.mediaType, body);
  }

  private sendBody(
    request: FastifyRequest,
    reply: FastifyReply,
    code: number,
    mediaType: string,
    body: Buffer,
  ): void | Promise<void> {
    const headers = headersFor(request, mediaType);
    if (body.length <= compressedBytesMin || !this.compresses(request)) {
      return sendBytes(request, reply, code, headers, body);
    }
    return compressed(body).then((smaller) => sendBytes(request, reply, code, asCompressed(headers), smaller));
  }
}

const nothing = Buffer.alloc(0);

function includeObjectOf(value: string | undefined): IncludeObject {
  if (value === undefined || value === '' || value === 'Metadata') return 'Metadata';
  if (value === 'Object' || value === 'None') return value;
  throw ApiError.badRequest(`unsupported includeObject value: ${value}`);
}
