import type { ServerComponents } from '../../src/assembly/components.js';
import type { Subscription } from '../../src/cache/watch-request.js';
import type { Encoding } from '../../src/codec/encoding.js';
import { ApiError } from '../../src/machinery/api-error.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { parseDeleteOptions } from '../../src/machinery/delete-options.js';
import { parseListOptions } from '../../src/machinery/list-options.js';
import { emptyQuery, Query as ParsedQuery } from '../../src/machinery/query.js';
import { loopbackUser } from '../../src/machinery/user-info.js';
import { listObjects } from '../../src/registry/read/list.js';
import { Renderings } from '../../src/answers/rendering.js';
import type { ServedResource } from '../../src/registry/resource-registry.js';
import { FieldReport, type Submission } from '../../src/registry/write/submission.js';
import { storageToApiError } from '../../src/registry/storage-to-api-error.js';
import { watchObjects } from '../../src/registry/read/watch.js';
import type { Clock, Timer } from '../../src/std/clock.js';
import { create } from '../../src/verbs/create.js';
import { deleteCollection } from '../../src/verbs/delete-collection.js';
import { deleteOne } from '../../src/verbs/delete.js';
import { getObject } from '../../src/verbs/get.js';
import { patch } from '../../src/verbs/patch.js';
import { update } from '../../src/verbs/update.js';
import type { Target, VerbAnswer } from '../../src/verbs/verb.js';
import {
  ApiFailure,
  type Api,
  type Call,
  type ObjectRef,
  type Pace,
  type CollectionRef,
  type WatchListener,
} from './api.js';
import type { Query } from './api.js';
import { readFrame } from './frames.js';
import type { Resource } from './selection.js';

const bookmarkMs = 400;

/** The simulated clients are authorized for everything. */
const allowed = () => Promise.resolve();

const submission = (value: unknown): Submission => ({ value, fields: new FieldReport('Ignore', []) });

/** The verbs of a server in this process, without HTTP. */
export class CoreApi implements Api {
  private readonly renderings = new Map<Resource, Renderings>();

  constructor(
    readonly name: string,
    private readonly dependencies: ServerComponents,
  ) {}

  createNamespace: Api['createNamespace'] = (name) =>
    this.call(async () => {
      const target = {
        ...this.target({ resource: 'configmaps', namespace: '' }, undefined),
        served: this.served('namespaces'),
      };
      return objectOf(await create(this.dependencies.admission, target, submission({ metadata: { name } })));
    });

  create: Api['create'] = (ref, object, call) =>
    this.call(async () =>
      objectOf(await create(this.dependencies.admission, this.target(ref, call), submission(object))),
    );

  update: Api['update'] = (ref, object, call) =>
    this.call(async () =>
      objectOf(
        await update(
          this.dependencies.admission,
          this.target(ref, call),
          ref.subresource ?? '',
          submission(object),
          allowed,
        ),
      ),
    );

  patch: Api['patch'] = (ref, type, body, call) =>
    this.call(async () =>
      objectOf(
        await patch(this.dependencies.admission, this.target(ref, call), ref.subresource ?? '', type, submission(body)),
      ),
    );

  remove: Api['remove'] = (ref, options, call) =>
    this.call(async () => {
      const parsed = parseDeleteOptions(emptyQuery, options as never, this.dependencies);
      return objectOf(await deleteOne(this.dependencies.admission, this.target(ref, call), parsed));
    });

  removeAll: Api['removeAll'] = (selection, call) =>
    this.call(async () => {
      const options = parseDeleteOptions(emptyQuery, { gracePeriodSeconds: 0 }, this.dependencies);
      const query = { namespace: selection.namespace, options: this.listOptions(selection.query, false) };
      const answer = await deleteCollection(this.dependencies.admission, this.target(selection, call), query, options);
      return answer.type === 'computedList' ? answer.objects : [];
    });

  get: Api['get'] = (ref, query, call) =>
    this.call(async () => objectOf(await getObject(this.target(ref, call), '', query['resourceVersion'])));

  list: Api['list'] = (selection, query) =>
    this.call(async () => {
      const options = this.listOptions(query, false);
      const { store } = this.served(selection.resource);
      const list = await listObjects(store, { namespace: selection.namespace, options });
      return {
        revision: list.revision,
        items: list.items.map((item) => item.parse()),
        continueToken: list.continueToken,
        remaining: list.remainingItemCount,
      };
    });

  watch: Api['watch'] = (selection, query, listener, pace) =>
    this.call(async () => {
      const { store } = this.served(selection.resource);
      const encoding = this.dependencies.encodings.find(({ name }) => name === selection.encoding)!;
      const rendering = this.renderingsOf(selection.resource).of({
        encoding,
        pretty: false,
        transform: undefined,
        includeObject: 'Metadata',
      });
      const options = this.listOptions(query, true);
      const begin = await watchObjects(store, { namespace: selection.namespace, options, rendering });
      const connection = new Connection(this.dependencies.clock, encoding, listener, pace);
      connection.open(begin(connection));
      return connection;
    });

  private async call<T>(question: () => Promise<T>): Promise<T> {
    try {
      return await question();
    } catch (thrown) {
      const error = storageToApiError(thrown);
      if (!(error instanceof ApiError)) throw thrown;
      throw new ApiFailure(error.code, error.reason, error.message, error.continueToken);
    }
  }

  private served(resource: Resource | 'namespaces'): ServedResource {
    return this.dependencies.registry.require('', 'v1', resource);
  }

  private target(ref: CollectionRef & Partial<ObjectRef>, call: Call | undefined): Target {
    return {
      served: this.served(ref.resource),
      namespace: ref.namespace,
      name: ref.name ?? '',
      context: {
        user: loopbackUser,
        signal: call?.signal,
        warnings: [],
        dryRun: call?.dryRun ?? false,
        fieldManager: 'simulation',
        auditAnnotations: new Map(),
      },
    };
  }

  private listOptions(query: Query, isWatch: boolean) {
    const text = new URLSearchParams(query).toString();
    const { metaGroup } = this.dependencies;
    return parseListOptions(new ParsedQuery(text), { metaGroup, isWatchPath: isWatch, shardingEnabled: true });
  }

  private renderingsOf(resource: Resource): Renderings {
    let found = this.renderings.get(resource);
    if (!found) {
      const { metaGroup, clock, config } = this.dependencies;
      const initialEventsEnd = config.naming.apiLabel('initial-events-end');
      found = new Renderings(this.served(resource).definition, { metaGroup, initialEventsEnd, clock });
      this.renderings.set(resource, found);
    }
    return found;
  }
}

function objectOf(answer: VerbAnswer): KubeObject {
  switch (answer.type) {
    case 'stored':
      return answer.encoded.parse();
    case 'computed':
      return answer.object;
    case 'status':
      return answer.status as unknown as KubeObject;
    default:
      throw new Error(`unexpected answer of this verb: ${answer.type}`);
  }
}

/** Flow control between a watch and its client: the client's buffer size and reading time. */
class Connection {
  private frames: Buffer[] = [];
  private subscription: Subscription | undefined;
  private isClosed = false;
  private isFull = false;
  private hasEnded = false;
  private reading: Timer | undefined;
  private bookmark: Timer | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly encoding: Encoding,
    private readonly listener: WatchListener,
    private pace: Pace,
  ) {}

  open(subscription: Subscription): void {
    this.subscription = subscription;
    const mark = () => {
      if (!this.isFull) subscription.sendBookmark();
      this.bookmark = this.clock.after(bookmarkMs, mark);
    };
    this.bookmark = this.clock.after(bookmarkMs, mark);
  }

  write(frame: Buffer): boolean {
    if (this.isFull && !frame.includes('ERROR')) throw new Error('the watch sent a frame to a full connection');
    this.frames.push(frame);
    if (this.pace.delayMs === 0) this.take(Infinity);
    else this.reading ??= this.clock.after(this.pace.delayMs, () => this.read());
    this.isFull = this.frames.length >= this.pace.eventsMax;
    return !this.isFull;
  }

  stopPacing(): void {
    this.pace = { eventsMax: Infinity, delayMs: 0 };
    this.reading?.cancel();
    this.read();
  }

  end(): void {
    this.hasEnded = true;
    if (this.frames.length === 0) this.finish();
  }

  close(): void {
    this.isClosed = true;
    this.reading?.cancel();
    this.bookmark?.cancel();
    this.subscription?.close();
  }

  private read(): void {
    this.reading = undefined;
    if (this.isClosed) return;
    this.take(1 + (this.pace.eventsMax >> 1));
    if (this.frames.length > 0) this.reading = this.clock.after(this.pace.delayMs, () => this.read());
    else if (this.hasEnded) this.finish();
    if (!this.isFull || this.frames.length >= this.pace.eventsMax) return;
    this.isFull = false;
    this.subscription?.drained();
  }

  private take(count: number): void {
    for (const frame of this.frames.splice(0, count)) {
      if (this.isClosed) return;
      const { type, object } = readFrame(frame, this.encoding);
      this.listener.event(type, object);
    }
  }

  private finish(): void {
    this.bookmark?.cancel();
    if (!this.isClosed) this.listener.ended();
  }
}
