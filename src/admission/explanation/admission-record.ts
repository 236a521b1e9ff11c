import type { Operation } from 'fast-json-patch';
import { stringifyJson } from '../../codec/json.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { copyObject } from '../../patch/copy-json.js';
import type { AdmissionTrace, TracedPart } from '../../registry/admission-trace.js';
import type { Clock } from '../../std/clock.js';

/** Changes of larger objects are not computed. */
const comparedCharactersMax = 512 * 1024;
/** Changes that are listed for one step. */
const changesMax = 200;
/** Policies and webhooks that are listed for all steps. */
const partsMax = 2_000;

/** The effect of a step, or of a part of it. */
interface Effect {
  readonly outcome: 'passed' | 'changed' | 'refused';
  /** Text of the refusal. */
  readonly message?: string;
  /** JSON patch from the object before to the object after; absent if nothing changed. */
  readonly changes?: readonly unknown[];
  /** True if not all changes are listed. */
  readonly areChangesCut?: boolean;
  readonly milliseconds: number;
}

type RecordedPart = TracedPart & Partial<Effect>;

interface RecordedStep extends Effect {
  readonly plugin: string;
  readonly step: 'admit' | 'validate';
  readonly parts?: readonly RecordedPart[];
}

/** Records the steps of admission for one request, in their order. A write that is tried again adds its steps. */
export class AdmissionRecord implements AdmissionTrace {
  readonly steps: RecordedStep[] = [];
  private parts: RecordedPart[] = [];
  private partCount = 0;

  private constructor(
    private readonly clock: Clock,
    private readonly compare: (before: object, after: object) => readonly Operation[],
  ) {}

  /** Loads the library that compares objects, which few servers need. */
  static async create(clock: Clock): Promise<AdmissionRecord> {
    const { default: fastJsonPatch } = await import('fast-json-patch');
    return new AdmissionRecord(clock, (before, after) => fastJsonPatch.compare(before, after));
  }

  async step(
    plugin: string,
    step: 'admit' | 'validate',
    object: KubeObject | undefined,
    run: () => void | Promise<void>,
  ): Promise<void> {
    this.parts = [];
    await this.measured(object, run, (effect) => {
      const { parts } = this;
      this.steps.push({ plugin, step, ...effect, ...(parts.length > 0 && { parts }) });
    });
  }

  part(part: RecordedPart): void {
    if (this.partCount++ < partsMax) this.parts.push(part);
  }

  run(part: TracedPart, object: KubeObject | undefined, run: () => Promise<string | void>): Promise<void> {
    let skipped: string | void;
    const measured = async () => {
      skipped = await run();
    };
    return this.measured(object, measured, (effect) => this.part({ ...part, ...(skipped ? { skipped } : effect) }));
  }

  private async measured(
    object: KubeObject | undefined,
    run: () => void | Promise<void>,
    record: (effect: Effect) => void,
  ): Promise<void> {
    const isCompared = object !== undefined && stringifyJson(object).length <= comparedCharactersMax;
    const before = isCompared ? copyObject(object) : undefined;
    const beginMs = this.clock.monotonicMs();
    const since = () => Math.round((this.clock.monotonicMs() - beginMs) * 1000) / 1000;
    try {
      await run();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      record({ outcome: 'refused', message, milliseconds: since() });
      throw error;
    }
    const milliseconds = since();
    const changes = before ? this.compare(before, object!) : [];
    if (changes.length === 0) return record({ outcome: 'passed', milliseconds });
    const areChangesCut = changes.length > changesMax;
    record({
      outcome: 'changed',
      changes: changes.slice(0, changesMax),
      ...(areChangesCut && { areChangesCut }),
      milliseconds,
    });
  }
}
