import type { JsonObject, KubeObject } from '../machinery/kube-object.js';
import { putOwn } from '../machinery/put-own.js';
import { copyJson } from '../patch/copy-json.js';
import type { Clock } from '../std/clock.js';
import type { AdmissionOperation } from './admission-operation.js';
import type { AdmissionAttributes, AdmissionPlugin } from './admission-plugin.js';

export type AdmissionStep = 'admit' | 'validate';

/** Receives the duration and the outcome of each plug-in and of each step, for metrics. */
export interface AdmissionObserver {
  readonly clock: Clock;
  plugin(name: string, step: AdmissionStep, operation: AdmissionOperation, seconds: number, isRefused: boolean): void;
  step(step: AdmissionStep, operation: AdmissionOperation, seconds: number, isRefused: boolean): void;
}

/** Runs the enabled plug-ins in order. A plug-in without one of the two steps costs nothing in that step. */
export class AdmissionChain {
  private readonly admitting: AdmissionPlugin[];
  private readonly validating: AdmissionPlugin[];
  private readonly reinvoking: AdmissionPlugin[];
  /** True if a plug-in of an embedding program may change objects: it gets values of its own, as AdmissionHooks says. */
  private readonly copiesUpdates: boolean;

  constructor(
    readonly plugins: readonly AdmissionPlugin[],
    private readonly observer?: AdmissionObserver,
  ) {
    this.admitting = plugins.filter((plugin) => plugin.admit);
    this.validating = plugins.filter((plugin) => plugin.validate);
    this.reinvoking = plugins.filter((plugin) => plugin.needsReinvocation);
    this.copiesUpdates = this.admitting.some(({ isOwn = false }) => isOwn);
  }

  admit(attributes: AdmissionAttributes): Promise<void> {
    if (this.copiesUpdates && attributes.object && attributes.old) copyNestedValues(attributes.object);
    return this.run('admit', this.admitting, attributes, this.reinvoking);
  }

  validate(attributes: AdmissionAttributes): Promise<void> {
    return this.run('validate', this.validating, attributes);
  }

  /** Runs both steps for a request that stores nothing in between. */
  async admitAndValidate(attributes: AdmissionAttributes): Promise<void> {
    await this.admit(attributes);
    await this.validate(attributes);
  }

  private async run(
    step: AdmissionStep,
    plugins: readonly AdmissionPlugin[],
    attributes: AdmissionAttributes,
    reinvoking: readonly AdmissionPlugin[] = none,
    isReinvocation = false,
  ): Promise<void> {
    const { observer } = this;
    const { trace, steps } = attributes.request;
    steps?.begin('admission');
    const spans = steps?.trace;
    spans?.describe({ phase: step });
    if (trace) {
      for (const plugin of plugins) {
        await trace.step(plugin.name, step, attributes.object, () => runStep(plugin, step, attributes, isReinvocation));
      }
      if (isReinvoked(reinvoking, attributes)) await this.run(step, plugins, attributes, none, true);
      return;
    }
    if (!observer) {
      for (const plugin of plugins) {
        const running = runStep(plugin, step, attributes, isReinvocation);
        // Most plug-ins return at once, and need no turn of the microtask queue.
        if (running !== undefined) await running;
      }
      if (isReinvoked(reinvoking, attributes)) await this.run(step, plugins, attributes, none, true);
      return;
    }
    const { operation } = attributes;
    const beginMs = observer.clock.monotonicMs();
    // The end of one plug-in is the beginning of the next, so that the clock is read once for each.
    let lastMs = beginMs;
    for (const plugin of plugins) {
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
    observer.step(step, operation, (lastMs - beginMs) / 1000, false);
    steps?.begin('handling', lastMs);
    if (isReinvoked(reinvoking, attributes)) await this.run(step, plugins, attributes, none, true);
  }
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
