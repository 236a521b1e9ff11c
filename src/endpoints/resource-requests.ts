import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AdmissionChain } from '../admission/admission-chain.js';
import type { Encoding } from '../codec/encoding.js';
import { encodeJson } from '../codec/json.js';
import { parseContentType } from '../codec/media-type.js';
import type { Limits } from '../config/limits.js';
import type { RequestState } from '../answers/request-state.js';
import type { ForwardPlan } from '../forwarding/forward-plan.js';
import { ApiError } from '../machinery/api-error.js';
import { goQuote } from '../machinery/field-error.js';
import {
  parseCreateOptions,
  parsePatchOptions,
  parseUpdateOptions,
  type WriteOptions,
} from '../machinery/write-options.js';
import { parseDeleteOptions, type DeleteOptions } from '../machinery/delete-options.js';
import { parseGetOptions, parseListOptions, type ListOptions } from '../machinery/list-options.js';
import type { TypeSource } from '../machinery/type-model.js';
import { listObjects } from '../registry/read/list.js';
import type { ListMeta } from '../answers/common-shapes.js';
import type { ResourceVerb } from '../registry/definition/resource-definition.js';
import { isCustom, type ServedResource, type ServedVirtual } from '../registry/resource-registry.js';
import type { VisibleResources } from '../registry/visible-resources.js';
import type { Submission } from '../registry/write/submission.js';
import { watchObjects } from '../registry/read/watch.js';
import type { RequestInfo } from '../machinery/request-info.js';
import type { Clock } from '../std/clock.js';
import type { Rng } from '../std/rng.js';
import { apply } from '../verbs/apply.js';
import { create } from '../verbs/create.js';
import { deleteCollection } from '../verbs/delete-collection.js';
import { deleteOne } from '../verbs/delete.js';
import { getObject, listComputed } from '../verbs/get.js';
import { patch } from '../verbs/patch.js';
import { callSubresource, callVirtual, handledSubresource } from '../verbs/subresource.js';
import { update } from '../verbs/update.js';
import type { RequireCreate, Target, VerbAnswer } from '../verbs/verb.js';
import type { AuthorizationAttributes } from '../auth/authorizer.js';
import { beginExplanation, explainHeader } from './explanations.js';
import type { ConnectionRequests } from './connection-requests.js';
import type { ForwardedRequests } from './forwarded-requests.js';
import type { DeprecatedRequests } from './deprecated-requests.js';
import type { WatchMetrics } from '../metrics/watch-metrics.js';
import { readBody } from './request-body.js';
import { ResourceAnswers, type ResourceAnswerDependencies } from '../answers/resource-answers.js';
import { submission, submittedName, submittedOptions, submittedPatch } from './submissions.js';
import type { WatchStreams } from './watch-stream.js';
import {
  checkName,
  checkNamespace,
  isApiPath,
  managerOf,
  patchTypeOf,
  preconditionsOf,
  storedFields,
  warnOfUnreadable,
} from './request-checks.js';

interface ResourceRequestDependencies extends ResourceAnswerDependencies {
  readonly registry: VisibleResources;
  readonly types: TypeSource;
  readonly admission: AdmissionChain;
  readonly watches: WatchStreams;
  readonly watchMetrics: WatchMetrics;
  readonly deprecations: DeprecatedRequests;
  readonly forwarded: ForwardedRequests;
  readonly encodings: readonly Encoding[];
  readonly metaGroup: string;
  readonly limits: Limits;
  readonly rng: Rng;
  readonly minWatchTimeoutMs: number;
  readonly watchListEnabled: boolean;
  readonly snapshotsEnabled: boolean;
  readonly shardingEnabled: boolean;
  readonly unsafeDeletionEnabled: boolean;
  /** True if a GET of exec, attach and portforward needs the permission for create, too. */
  readonly streamsRequireCreate: boolean;
  readonly connections: ConnectionRequests;
  /** Returns a 403 error if no authorizer allows it. */
  readonly refusalOfAttributes: (attributes: AuthorizationAttributes) => Promise<ApiError | undefined>;
  /** Returns a 403 error if the user may not do `verb` to the object of the request, undefined if allowed. */
  readonly refusalOf: (state: Pick<RequestState, 'user' | 'info'>, verb: string) => Promise<ApiError | undefined>;
  readonly clock: Clock;
}

/** Maps requests to verbs by their RequestInfo, and sends the results: the boundary between HTTP and the verbs. */
export class ResourceRequests {
  private readonly answers: ResourceAnswers;

  constructor(private readonly dependencies: ResourceRequestDependencies) {
    this.answers = new ResourceAnswers(dependencies);
  }

  answer(request: FastifyRequest, reply: FastifyReply): void | Promise<void> {
    const { info, served } = request.kube;
    if (info.error) throw info.error;
    if (!served) {
      const remote = this.dependencies.forwarded.find(info.group, info.version);
      if (remote) return this.dependencies.forwarded.forward(request, reply, remote);
    }
    if (!info.isResourceRequest) throw isApiPath(info.path) ? ApiError.noSuchResource() : ApiError.noSuchPage();
    if (!served) throw ApiError.noSuchResource();
    if (served.type !== 'stored') return this.virtual(request, reply, served);
    if (request.raw.headers[explainHeader] !== undefined) return this.explained(request, reply, served);
    const answered = this.stored(request, reply, served);
    return answered && isCustom(served)
      ? answered.catch((error: unknown) => this.readAgain(request, reply, served, error))
      : answered;
  }

  /** Answers a write with an explanation of admission, also if it was refused. */
  private async explained(request: FastifyRequest, reply: FastifyReply, served: ServedResource): Promise<void> {
    await beginExplanation(request, this.dependencies);
    try {
      await this.stored(request, reply, served);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.answers.sendExplanation(request, reply, error.code, error.toStatus());
    }
  }

  /** Repeats a read if the CRD changed while it waited for the cache, since the changed kind has another cache. */
  private readAgain(request: FastifyRequest, reply: FastifyReply, served: ServedResource, error: unknown) {
    const { verb } = request.kube.info;
    const isRead = verb === 'get' || verb === 'list' || verb === 'watch';
    const isTooLate = error instanceof ApiError && error.reason === 'ServiceUnavailable' && served.store.cache.isClosed;
    if (!isRead || !isTooLate || reply.raw.headersSent) throw error;
    const { group, version, resource } = request.kube.info;
    request.kube.served = this.dependencies.registry.find(group, version, resource);
    return this.answer(request, reply);
  }

  private stored(request: FastifyRequest, reply: FastifyReply, served: ServedResource): void | Promise<void> {
    const { kube } = request;
    const { info } = kube;
    const { definition } = served;
    checkNamespace(info, definition.namespaced);
    if (info.subresource !== '') {
      const handled = handledSubresource(served, info.subresource);
      if (handled) return this.handled(request, reply, served);
      if (info.verb !== 'get' && info.verb !== 'update' && info.verb !== 'patch') throw ApiError.methodNotAllowed();
    } else if (!definition.verbs.includes(info.verb as ResourceVerb)) throw ApiError.methodNotAllowed();
    checkName(info);
    this.dependencies.deprecations.note(kube, served);

    switch (info.verb) {
      case 'get':
        return this.get(request, reply, served);
      case 'list':
        return this.list(request, reply, served);
      case 'watch':
        // A deprecated /watch/ path has the verb watch for every method.
        if (request.raw.method !== 'GET' && request.raw.method !== 'HEAD') throw ApiError.methodNotAllowed();
        return this.watch(request, reply, served);
      case 'create':
        return this.create(request, reply, served);
      case 'update':
        return this.update(request, reply, served);
      case 'patch':
        return this.patch(request, reply, served);
      case 'delete':
      case 'deletecollection':
        return this.delete(request, reply, served);
      default:
        throw ApiError.methodNotAllowed();
    }
  }

  private get(request: FastifyRequest, reply: FastifyReply, served: ServedResource): void | Promise<void> {
    const { info } = request.kube;
    const { resourceVersion } = parseGetOptions(info.query);
    const answer = getObject(this.target(request, served), info.subresource, resourceVersion);
    const send = (found: VerbAnswer) => this.answers.send(request, reply, served.definition, found);
    return answer instanceof Promise ? answer.then(send) : send(answer);
  }

  private async create(request: FastifyRequest, reply: FastifyReply, served: ServedResource): Promise<void> {
    const { definition } = served;
    const options = parseCreateOptions(request.kube.info.query, this.dependencies);
    const body = await this.body(request, definition.kind, options);
    const target = this.target(request, served, options);
    return this.answers.send(request, reply, definition, await create(this.dependencies.admission, target, body));
  }

  private async update(request: FastifyRequest, reply: FastifyReply, served: ServedResource): Promise<void> {
    const { definition } = served;
    const { info } = request.kube;
    const options = parseUpdateOptions(info.query, this.dependencies);
    const body = await this.body(request, definition.kind, options);
    const target = this.target(request, served, options);
    const { admission } = this.dependencies;
    const answer = await update(admission, target, info.subresource, body, this.requireCreate(request));
    return this.answers.send(request, reply, definition, answer);
  }

  private async list(request: FastifyRequest, reply: FastifyReply, served: ServedResource): Promise<void> {
    const options = this.listOptions(request, served);
    const computed = await listComputed(served, options);
    if (computed) return this.answers.send(request, reply, served.definition, computed);
    const result = await listObjects(served.store, {
      namespace: request.kube.info.namespace,
      options,
      usesSnapshots: this.dependencies.snapshotsEnabled,
      caller: request.kube,
    });
    warnOfUnreadable(request.kube.warnings, result.unreadable);
    const meta: ListMeta = {
      resourceVersion: String(result.revision),
      ...(result.continueToken !== undefined && { continue: result.continueToken }),
      ...(result.remainingItemCount !== undefined && { remainingItemCount: result.remainingItemCount }),
      ...(options.shard && { shardInfo: { selector: options.shard.text } }),
    };
    return this.answers.sendList(request, reply, served.definition, meta, result.items);
  }

  private async watch(request: FastifyRequest, reply: FastifyReply, served: ServedResource): Promise<void> {
    const options = this.listOptions(request, served);
    const representation = { ...this.answers.representation(request), pretty: false };
    const renderings = this.dependencies.renderings(served.definition);
    const begin = await watchObjects(served.store, {
      namespace: request.kube.info.namespace,
      options,
      rendering: renderings.of(representation),
      caller: request.kube,
    });
    const { minWatchTimeoutMs, rng } = this.dependencies;
    this.dependencies.watches.start(
      request,
      reply,
      {
        contentType: representation.encoding.streamMediaType ?? representation.encoding.mediaType,
        // Random, so that watches of a restarted server do not all end at the same time.
        timeoutMs: options.timeoutSeconds
          ? options.timeoutSeconds * 1000
          : minWatchTimeoutMs + rng.below(minWatchTimeoutMs),
        sent: this.dependencies.watchMetrics.sentOf(request.kube.info),
        firstFrame: representation.transform?.as === 'Table' ? (frame) => renderings.withColumns(frame) : undefined,
      },
      begin,
    );
  }

  private async patch(request: FastifyRequest, reply: FastifyReply, served: ServedResource): Promise<void> {
    const { info } = request.kube;
    const mediaType = parseContentType(request.raw.headers['content-type'] ?? '')?.name ?? '';
    const { limits, clock, encodings } = this.dependencies;
    const type = patchTypeOf(mediaType, served, encodings);
    const options = parsePatchOptions(info.query, type === 'apply', this.dependencies);
    const bytes = await readBody(request, limits.requestBodyBytesMax);
    const target = this.target(request, served, options);
    const { fieldValidation } = options;
    const { audit } = request.kube;
    const decode = async () => {
      request.kube.begin('decode');
      const body = await submittedPatch(bytes, { mediaType, type }, { fieldValidation, limits, clock });
      audit?.patched(type === 'apply' ? encodeJson(body.value) : bytes);
      request.kube.begin('handling');
      return body;
    };
    const { admission } = this.dependencies;
    if (type !== 'apply') {
      const answer = await patch(admission, target, info.subresource, type, await decode());
      return this.answers.send(request, reply, served.definition, answer);
    }
    // An audit log of whole requests needs all of them decoded.
    const sent = audit?.takesRequests ? undefined : { body: bytes, mediaType, fieldValidation };
    const requireCreate = this.requireCreate(request);
    const answer = await apply(admission, target, info.subresource, { decode, sent }, options.force, requireCreate);
    return this.answers.send(request, reply, served.definition, answer);
  }

  private async delete(request: FastifyRequest, reply: FastifyReply, served: ServedResource): Promise<void> {
    const { info } = request.kube;
    const body = await submittedOptions(request, {
      decoders: this.dependencies.encodings,
      limits: this.dependencies.limits,
      clock: this.dependencies.clock,
      kind: 'DeleteOptions',
    });
    if (body !== undefined) request.kube.audit?.optionsSent(body);
    const isCollection = info.verb === 'deletecollection';
    const options = parseDeleteOptions(info.query, body as never, { ...this.dependencies, isCollection });
    const target = this.target(request, served, options);
    if (info.verb === 'delete') {
      if (options.ignoreStoreReadErrorWithClusterBreakingPotential) await this.requireUnsafeDeletion(request);
      const preconditions = { ...target.preconditions, ...options.preconditions };
      const answer = await deleteOne(this.dependencies.admission, target, { ...options, preconditions });
      return this.answers.send(request, reply, served.definition, answer);
    }
    const query = {
      namespace: info.namespace,
      options: this.listOptions(request, served),
      signal: target.context.signal,
    };
    const answer = await deleteCollection(this.dependencies.admission, target, query, options);
    return this.answers.send(request, reply, served.definition, answer);
  }

  /** Requires the permission for unsafe-delete-ignore-read-errors, in addition to delete. */
  private async requireUnsafeDeletion(request: FastifyRequest): Promise<void> {
    const { group, resource, name } = request.kube.info;
    if (!(await this.dependencies.refusalOf(request.kube, unsafeDeletionVerb))) return;
    // The text of kube-apiserver; authorizers give no reason for what they do not allow.
    throw ApiError.forbidden({ group, resource }, name, `not permitted to do ${goQuote(unsafeDeletionVerb)}, reason: `);
  }

  private requireCreate({ kube }: FastifyRequest): RequireCreate {
    return async () => {
      const refusal = await this.dependencies.refusalOf(kube, 'create');
      if (refusal) throw refusal;
    };
  }

  private async handled(request: FastifyRequest, reply: FastifyReply, served: ServedResource): Promise<void> {
    const { info } = request.kube;
    this.dependencies.deprecations.note(request.kube, served);
    // The query and body of a connect request (exec, attach, portforward, proxy) are not those of a write.
    const connects = handledSubresource(served, info.subresource)?.connects ?? false;
    const options = connects ? undefined : parseCreateOptions(info.query, this.dependencies);
    const takesBody = info.verb === 'create' || info.verb === 'update' || info.verb === 'patch';
    const body = options && takesBody ? await this.body(request, info.subresource, options) : undefined;
    const target = this.target(request, served, options);
    const verb = info.verb as 'create' | 'get' | 'update' | 'patch' | 'delete';
    if (connects && info.query.has('dryRun')) throw ApiError.badRequest('dryRun is not supported');
    const query = {
      first: (name: string) => info.query.first(name),
      all: (name: string) => [...info.query.all(name)],
      ...(connects && { subpath: subpathOf(info) }),
    };
    const answer = await callSubresource(this.dependencies.admission, target, info.subresource, verb, body, query);
    if (answer.type === 'forward') return this.forward(request, reply, answer.plan);
    return this.answers.send(request, reply, served.definition, answer);
  }

  private async forward(request: FastifyRequest, reply: FastifyReply, plan: ForwardPlan): Promise<void> {
    // A WebSocket begins with GET, which users may have who may not change anything.
    const isRead = request.kube.info.verb === 'get';
    if (plan.type === 'stream' && isRead && this.dependencies.streamsRequireCreate) await this.requireCreate(request)();
    return this.dependencies.connections.forward(request, reply, plan);
  }

  private async virtual(request: FastifyRequest, reply: FastifyReply, served: ServedVirtual): Promise<void> {
    const { kube } = request;
    const { info } = kube;
    // A namespaced virtual resource needs a namespace in its path.
    if (served.definition.namespaced && info.namespace === '') throw ApiError.noSuchResource();
    checkNamespace(info, served.definition.namespaced);
    if (info.name !== '' || info.subresource !== '') throw ApiError.noSuchResource();
    if (info.verb !== 'create') throw ApiError.methodNotAllowed();
    this.dependencies.deprecations.note(kube, served);
    const options = parseCreateOptions(info.query, this.dependencies);
    const body = await this.body(request, served.definition.kind, options);
    const fieldManager = options.fieldManager || managerOf(request);
    const context = kube.context({ dryRun: options.dryRun, fieldManager }, options);
    const answer = await callVirtual(
      this.dependencies.admission,
      served,
      { namespace: info.namespace, context, query: info.query },
      this.dependencies,
      body,
    );
    if (answer.type !== 'computed') throw ApiError.internal('an operation answered with stored bytes');
    const representation = this.answers.representation(request);
    if (representation.transform)
      throw ApiError.notAcceptable(this.dependencies.encodings.map(({ mediaType }) => mediaType));
    return this.answers.sendValue(request, reply, answer.code, answer.object, representation);
  }

  private target(request: FastifyRequest, served: ServedResource, options?: WriteOptions | DeleteOptions): Target {
    const { info } = request.kube;
    const dryRun = options?.dryRun ?? false;
    const fieldManager = (options && 'fieldManager' in options && options.fieldManager) || managerOf(request);
    return {
      served,
      namespace: info.namespace,
      name: info.name,
      context: request.kube.context({ dryRun, fieldManager }, options),
      preconditions: preconditionsOf(request),
    };
  }

  private listOptions(request: FastifyRequest, served: ServedResource): ListOptions {
    const { info } = request.kube;
    const parsed = parseListOptions(info.query, {
      metaGroup: this.dependencies.metaGroup,
      isWatchPath: info.verb === 'watch',
      watchListEnabled: this.dependencies.watchListEnabled,
      shardingEnabled: this.dependencies.shardingEnabled,
    });
    const options = parsed.fields.isEmpty
      ? parsed
      : { ...parsed, fields: storedFields(parsed.fields, served.definition) };
    // Deprecated watch of one object: /watch/namespaces/NAMESPACE/RESOURCE/NAME.
    if (info.name !== '' && options.fields.requiresExact('metadata.name') === undefined) {
      return { ...options, fields: options.fields.and('metadata.name', info.name) };
    }
    return options;
  }

  private async body(request: FastifyRequest, kind: string, { fieldValidation }: WriteOptions): Promise<Submission> {
    const { encodings: decoders, limits, clock } = this.dependencies;
    const submitted = await submission(request, { decoders, limits, clock, kind, fieldValidation });
    if (request.kube.nameKnown) await request.kube.nameKnown(submittedName(submitted.value));
    return submitted;
  }
}

const unsafeDeletionVerb = 'unsafe-delete-ignore-read-errors';

/** Returns the path behind a subresource, with a leading slash and the trailing slash of the request. */
function subpathOf({ parts, path }: RequestInfo): string {
  const joined = parts.slice(3).join('/');
  const subpath = joined === '' || joined.startsWith('/') ? joined : `/${joined}`;
  return path.endsWith('/') && !subpath.endsWith('/') ? `${subpath}/` : subpath;
}
