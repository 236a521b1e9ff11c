import type { GroupResource } from '../machinery/gvk.js';
import type { JsonObject, KubeObject } from '../machinery/kube-object.js';
import { putOwn } from '../machinery/put-own.js';
import { copyJson } from '../patch/copy-json.js';
import type { Clock } from '../std/clock.js';
import type { AdmissionOperation } from './admission-operation.js';
import type { AdmissionAttributes, AdmissionPlugin, UnchangedUpdate } from './admission-plugin.js';

export type AdmissionStep = 'admit' | 'validate';

/** Receives the duration and the outcome of each plug-in and of each step, for metrics. */
export interface AdmissionObserver {
  readonly clock: Clock;
  plugin(name: string, step: AdmissionStep, operation: AdmissionOperation, seconds: number, isRefused: boolean): void;
  /** Plug-ins that were not called for a request, since they do nothing about it. Always the same array for the same names. */
  unconcernedPlugins(names: readonly string[], step: AdmissionStep, operation: AdmissionOperation): void;
  step(step: AdmissionStep, operation: AdmissionOperation, seconds: number, isRefused: boolean): void;
}

/** The plug-ins that have a step and are about a resource, and the names of those that are about others. */
interface Selection {
  readonly concerned: readonly AdmissionPlugin[];
  readonly others: readonly string[];
}

/** Runs the enabled plug-ins in order. A plug-in without one of the two steps costs nothing in that step. */
export class AdmissionChain {
  private readonly all: Readonly<Record<AdmissionStep, Selection>>;
  private readonly byResource = {
    admit: new WeakMap<GroupResource, Selection>(),
    validate: new WeakMap<GroupResource, Selection>(),
  };
  /** Few, since most resources concern the same plug-ins. Keyed by step and names. */
  private readonly selections = new Map<string, Selection>();
  private readonly names: Readonly<Record<AdmissionStep, readonly string[]>>;
  private readonly reinvoking: AdmissionPlugin[];
  /** True if a plug-in of an embedding program may change objects: it gets values of its own, as AdmissionHooks says. */
  private readonly copiesUpdates: boolean;

  constructor(
    readonly plugins: readonly AdmissionPlugin[],
    private readonly observer?: AdmissionObserver,
  ) {
    const admitting = plugins.filter((plugin) => plugin.admit);
    const validating = plugins.filter((plugin) => plugin.validate);
    this.all = { admit: { concerned: admitting, others: [] }, validate: { concerned: validating, others: [] } };
    this.names = { admit: admitting.map(({ name }) => name), validate: validating.map(({ name }) => name) };
    this.reinvoking = plugins.filter((plugin) => plugin.needsReinvocation);
    this.copiesUpdates = admitting.some(({ isOwn = false }) => isOwn);
  }

  admit(attributes: AdmissionAttributes): Promise<void> {
    if (this.copiesUpdates && attributes.object && attributes.old) copyNestedValues(attributes.object);
    return this.run('admit', attributes, this.reinvoking);
  }

  validate(attributes: AdmissionAttributes): Promise<void> {
    return this.run('validate', attributes);
  }

  /** True if both steps of all plug-ins do nothing about the update. */
  ignoresUnchanged(update: UnchangedUpdate): boolean {
    return steps.every((step) =>
      this.selectionFor(update.resource, step).concerned.every((plugin) => plugin.actsOnUnchanged?.(update) === false),
    );
  }

  /** Counts an update for which the steps need not run. */
  countIgnored({ operation }: UnchangedUpdate): void {
    const { observer } = this;
    if (!observer) return;
    for (const step of steps) {
      observer.unconcernedPlugins(this.names[step], step, operation);
      observer.step(step, operation, 0, false);
    }
  }

  /** Runs both steps for a request that stores nothing in between. */
  async admitAndValidate(attributes: AdmissionAttributes): Promise<void> {
    await this.admit(attributes);
    await this.validate(attributes);
  }

  private async run(
    step: AdmissionStep,
    attributes: AdmissionAttributes,
    reinvoking: readonly AdmissionPlugin[] = none,
    isReinvocation = false,
  ): Promise<void> {
    const { observer } = this;
    const { trace, steps } = attributes.request;
    steps?.begin('admission');
    const spans = steps?.trace;
    spans?.describe({ phase: step });
    // Explanations and traces name every plug-in.
    const { concerned, others } = trace || spans ? this.all[step] : this.selectionFor(attributes.resource, step);
    if (trace) {
      for (const plugin of concerned) {
        await trace.step(plugin.name, step, attributes.object, () => runStep(plugin, step, attributes, isReinvocation));
      }
      if (isReinvoked(reinvoking, attributes)) await this.run(step, attributes, none, true);
      return;
    }
    if (!observer) {
      for (const plugin of concerned) {
        const running = runStep(plugin, step, attributes, isReinvocation);
        // Most plug-ins return at once, and need no turn of the microtask queue.
        if (running !== undefined) await running;
      }
      if (isReinvoked(reinvoking, attributes)) await this.run(step, attributes, none, true);
      return;
    }
    const { operation } = attributes;
    const beginMs = observer.clock.monotonicMs();
    // The end of one plug-in is the beginning of the next, so that the clock is read once for each.
    let lastMs = beginMs;
    for (const plugin of concerned) {
      const span = spans?.beginPart(plugin.name);
      let isRefused = true;
      try {
        const running = runStep(plugin, step, attributes, isReinvocation);
        if (running !== undefined) await running;
        isRefused = false;
      } finally {
        const nowMs = observer.clock.monotonicMs();
        observer.plugin(plugin.name, step, operation, (nowMs - lastMs) / 1000, isRefused);
        steps?.part(plugin.name, nowMs - lastMs);
        span?.end(isRefused ? 'refused' : undefined, nowMs);
        lastMs = nowMs;
        if (isRefused) observer.step(step, operation, (nowMs - beginMs) / 1000, true);
      }
    }
    if (others.length > 0) observer.unconcernedPlugins(others, step, operation);
    observer.step(step, operation, (lastMs - beginMs) / 1000, false);
    steps?.begin('handling', lastMs);
    if (isReinvoked(reinvoking, attributes)) await this.run(step, attributes, none, true);
  }

  private selectionFor(resource: GroupResource, step: AdmissionStep): Selection {
    const known = this.byResource[step].get(resource);
    if (known) return known;
    const { concerned: all } = this.all[step];
    const concerned = all.filter((plugin) => isConcerned(plugin, resource));
    const others = all.filter((plugin) => !concerned.includes(plugin)).map(({ name }) => name);
    const key = `${step} ${others.join()}`;
    const selection = this.selections.get(key) ?? { concerned, others };
    this.selections.set(key, selection);
    this.byResource[step].set(resource, selection);
    return selection;
  }
}

const steps: readonly AdmissionStep[] = ['admit', 'validate'];

function isConcerned({ resources }: AdmissionPlugin, { group, resource }: GroupResource): boolean {
  return !resources || resources.some((about) => about.group === group && about.resource === resource);
}

const none: readonly AdmissionPlugin[] = [];

function runStep(
  plugin: AdmissionPlugin,
  step: AdmissionStep,
  attributes: AdmissionAttributes,
  isReinvocation: boolean,
): void | Promise<void> {
  return step === 'admit' ? plugin.admit!(attributes, isReinvocation) : plugin.validate!(attributes);
}

function isReinvoked(reinvoking: readonly AdmissionPlugin[], attributes: AdmissionAttributes): boolean {
  for (const plugin of reinvoking) if (plugin.needsReinvocation!(attributes)) return true;
  return false;
}

function copyNestedValues(object: KubeObject): void {
  const fields = object as unknown as JsonObject;
  for (const name of Object.keys(fields)) putOwn(fields, name, copyJson(fields[name]!));
}
