import type { FlowSchema, PriorityLevelConfiguration } from '../catalog/types/flowcontrol.v1.js';
import type { RequestInfo } from '../machinery/request-info.js';
import type { UserInfo } from '../machinery/user-info.js';
import { every, type Clock, type Timer } from '../std/clock.js';
import type { TimerWheel } from '../std/timer-wheel.js';
import { adjustLimits, type Adjustment } from './borrowing.js';
import { Classifier, type SchemaInForce } from './classifier.js';
import { PacedConnections } from './paced-connections.js';
import { DispatchTurns, type TurnScheduler } from './dispatch-turns.js';
import { FlowRequest } from './flow-request.js';
import { FlowSeries } from './flow-series.js';
import { levelSpecOf, PriorityLevel } from './priority-level.js';
import type { QueueSet } from './queue-set.js';
import { ReadsAndWrites } from './reads-and-writes.js';
import { RetryAfter } from './retry-after.js';
import { WatchCounts } from './watch-counts.js';
import { WorkEstimator, type ObjectStats } from './work-estimate.js';

const adjustmentMs = 10_000;
/** No request waits longer in its queue. */
const waitMsMax = 60_000;
const catchAllName = 'catch-all';

/** The objects that configure priority and fairness. */
export interface FlowObjects {
  readonly schemas: readonly FlowSchema[];
  readonly levels: readonly PriorityLevelConfiguration[];
}

interface Dependencies {
  readonly clock: Clock;
  readonly wheel: TimerWheel;
  /** The seats of all levels together. */
  readonly seats: number;
  /** Objects that are in force even if they do not exist. */
  readonly mandatory: FlowObjects;
  readonly statsOf: (info: RequestInfo) => ObjectStats | undefined;
  readonly watchListEnabled: boolean;
  readonly sizeBasedEstimates: boolean;
  readonly turns: TurnScheduler;
}

/** API priority and fairness: decides which requests execute, wait, or are rejected (KEP-1040). */
export class FlowControl {
  readonly levels = new Map<string, PriorityLevel>();
  readonly watchCounts = new WatchCounts();
  readonly readsAndWrites: ReadsAndWrites;
  adjustment: Adjustment = { fairFraction: 0, targets: new Map() };
  private readonly series = new Map<string, FlowSeries>();
  private readonly retryAfters = new Map<string, RetryAfter>();
  private readonly turns: DispatchTurns;
  readonly pacing: PacedConnections;
  private readonly estimator: WorkEstimator;
  private readonly clock: Clock;
  private classifier: Classifier;
  private objects: FlowObjects = { schemas: [], levels: [] };
  private noted: FlowSeries | undefined = undefined;

  constructor(private readonly dependencies: Dependencies) {
    const { clock, statsOf, watchListEnabled, sizeBasedEstimates: sizeBased } = dependencies;
    this.clock = clock;
    this.readsAndWrites = new ReadsAndWrites(clock.monotonicMs());
    this.turns = new DispatchTurns(clock, dependencies.turns);
    this.pacing = new PacedConnections(clock, dependencies.turns, this.turns);
    this.estimator = new WorkEstimator({
      statsOf,
      watchListEnabled,
      sizeBased,
      concernedWatches: (info) => this.watchCounts.concerned(info),
    });
    this.classifier = this.configure(this.objects);
  }

  /** Counts of all schemas and levels that requests were classified by. */
  get allSeries(): Iterable<FlowSeries> {
    return this.series.values();
  }

  /** Adjusts the limits to the demand every 10 s. */
  startAdjusting(): Timer {
    return every(this.clock, adjustmentMs, () => this.adjust());
  }

  adjust(): void {
    this.reap();
    this.adjustment = adjustLimits(this.levels.values(), this.clock.monotonicMs());
  }

  /** Puts objects into force. Levels that are gone stay until their requests have ended. */
  configure(objects: FlowObjects): Classifier {
    this.objects = objects;
    const { mandatory, seats } = this.dependencies;
    const levels = withMandatory(objects.levels, mandatory.levels);
    const fresh = new Set<PriorityLevel>();
    const wanted = new Set<string>();
    for (const object of levels) {
      const { name = '' } = object.metadata;
      const spec = levelSpecOf(object);
      if (!spec) continue;
      wanted.add(name);
      const known = this.levels.get(name);
      if (known) {
        known.spec = spec;
        known.queues.isQuiescing = false;
      } else {
        const schedule = (queues: QueueSet) => this.turns.schedule(queues);
        const level = new PriorityLevel(name, spec, this.clock, schedule, this.readsAndWrites);
        this.levels.set(name, level);
        fresh.add(level);
      }
    }
    for (const [name, { queues }] of this.levels) {
      if (wanted.has(name)) continue;
      if (queues.isIdle) this.forget(name);
      else queues.isQuiescing = true;
    }
    const shares = [...this.levels.values()].reduce((sum, { spec }) => sum + spec.shares, 0);
    for (const level of this.levels.values()) level.setSeats(seats, shares, fresh.has(level));
    this.readsAndWrites.setLimits(this.limits(), this.clock.monotonicMs());
    this.adjustment = adjustLimits(this.levels.values(), this.clock.monotonicMs());
    this.classifier = new Classifier(this.schemasInForce(objects.schemas, wanted));
    return this.classifier;
  }

  /** Classifies a request and gives it seats, a place in a queue, or neither: see its state. */
  admit(info: RequestInfo, user: UserInfo): FlowRequest {
    const { flow, level } = this.classifier.classify(info, user);
    const now = this.clock.monotonicMs();
    this.noted = flow.series;
    const estimate = this.estimator.estimate(info, level.requestSeatsMax, this.noteWatches);
    const request = new FlowRequest(flow, level.queues, info, user, now, estimate);
    flow.series.seats.observe(request.seats);
    // Requests of a crowded flow do not begin before those that are read after them in the same turn.
    request.isCrowded = this.pacing.isCrowded(flow);
    const defers = this.turns.isOver(flow, now) || request.isCrowded;
    level.queues.admit(request, now, defers);
    return request;
  }

  /** Resolves to true when a waiting request is dispatched, to false after `waitMs` or when it is cancelled. */
  dispatched(request: FlowRequest, waitMs: number): Promise<boolean> {
    request.timer = this.dependencies.wheel.after(Math.min(waitMs, waitMsMax), () => request.level.cancel(request));
    return new Promise((resolve) => (request.decided = resolve));
  }

  /** Returns the seconds after which the client of a rejected request may try again. */
  retryAfter({ level: { name } }: FlowRequest): number {
    let known = this.retryAfters.get(name);
    if (!known) this.retryAfters.set(name, (known = new RetryAfter()));
    return known.reject(this.clock.now());
  }

  private limits(): { executing: number; waiting: number } {
    let executing = 0;
    let waiting = 0;
    for (const { queues, spec } of this.levels.values()) {
      executing += queues.limits.nominal;
      if (spec.queuing.queues > 0) waiting += spec.queuing.queues * spec.queuing.queueLengthLimit;
    }
    return { executing, waiting };
  }

  private readonly noteWatches = (count: number): void => this.noted!.concerns(count);

  private schemasInForce(schemas: readonly FlowSchema[], levels: ReadonlySet<string>): SchemaInForce[] {
    const known = schemas.filter(({ spec }) => levels.has(spec?.priorityLevelConfiguration?.name ?? ''));
    const sorted = [...known].sort(byPrecedence);
    const missing = (name: string) => {
      const isNamed = ({ metadata }: FlowSchema) => metadata.name === name;
      return sorted.some(isNamed) ? [] : this.dependencies.mandatory.schemas.filter(isNamed);
    };
    const inForce = [...missing('exempt'), ...sorted, ...missing(catchAllName)].map((object) => {
      const level = this.levels.get(object.spec!.priorityLevelConfiguration!.name!)!;
      return { object, level, series: this.seriesOf(object.metadata.name!, level.name) };
    });
    const used = new Set(inForce.map(({ series }) => series));
    for (const [key, series] of this.series) {
      if (!used.has(series) && series.executing === 0 && series.waiting === 0) this.series.delete(key);
    }
    return inForce;
  }

  private seriesOf(schemaName: string, levelName: string): FlowSeries {
    const key = `${schemaName}/${levelName}`;
    let known = this.series.get(key);
    if (!known) this.series.set(key, (known = new FlowSeries(schemaName, levelName)));
    return known;
  }

  /** Removes levels whose objects are gone and whose requests have ended. */
  private reap(): void {
    if ([...this.levels.values()].some(({ queues }) => queues.isQuiescing && queues.isIdle))
      this.configure(this.objects);
  }

  private forget(name: string): void {
    this.levels.delete(name);
    this.retryAfters.delete(name);
    for (const [key, { levelName }] of this.series) if (levelName === name) this.series.delete(key);
  }
}

function withMandatory(
  levels: readonly PriorityLevelConfiguration[],
  mandatory: readonly PriorityLevelConfiguration[],
): PriorityLevelConfiguration[] {
  const names = new Set(levels.map(({ metadata }) => metadata.name));
  return [...levels, ...mandatory.filter(({ metadata }) => !names.has(metadata.name))];
}

function byPrecedence(a: FlowSchema, b: FlowSchema): number {
  const [first, second] = [a.spec?.matchingPrecedence ?? 0, b.spec?.matchingPrecedence ?? 0];
  if (first !== second) return first - second;
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
}
