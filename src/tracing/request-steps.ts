import type { Clock } from '../std/clock.js';
import type { RequestTrace } from './request-trace.js';
import { stepNames, type Step } from './step.js';

/** A plug-in or webhook that took long. */
interface SlowPart {
  readonly name: string;
  readonly ms: number;
}

/** kube-apiserver logs a step that took more than its share of 500 ms, which is this much if a request has ten steps. */
export const slowPartMs = 50;
/** Bound on the slow parts that are kept: a request can delete thousands of objects. */
const slowPartsMax = 20;

/**
 * The durations of the steps of one request: begin() ends the step before. They are whole microseconds in fields, so that
 * a step costs one reading of the clock and allocates nothing.
 */
export class RequestSteps {
  /** Set if tracing is configured, once the user is known. */
  trace: RequestTrace | undefined = undefined;
  slowParts: SlowPart[] | undefined = undefined;
  private step: Step = 'authentication';
  private stepBeginUs = 0;
  private authenticationUs = 0;
  private impersonationUs = 0;
  private flowControlUs = 0;
  private authorizationUs = 0;
  private handlingUs = 0;
  private bodyUs = 0;
  private decodeUs = 0;
  private admissionUs = 0;
  private cacheUs = 0;
  private storeUs = 0;
  private encodeUs = 0;
  private writeUs = 0;

  constructor(
    protected readonly clock: Clock,
    /** Time of the monotonic clock at which the request began. */
    readonly startMs: number = clock.monotonicMs(),
  ) {}

  /** Begins a step. Does nothing once the answer is being written: work that a deadline has overtaken may go on. */
  begin(step: Step, nowMs: number = this.clock.monotonicMs()): void {
    if (this.step === 'write') return;
    this.endStep(nowMs);
    this.step = step;
    this.trace?.enter(step, nowMs);
  }

  /** Ends the last step. */
  endSteps(nowMs: number): void {
    this.endStep(nowMs);
  }

  /** Keeps the name of a plug-in or webhook that took at least slowPartMs. */
  part(name: string, ms: number): void {
    if (ms < slowPartMs) return;
    const parts = (this.slowParts ??= []);
    if (parts.length < slowPartsMax) parts.push({ name, ms: Math.round(ms) });
  }

  /** Returns the milliseconds of the steps that took any. */
  durationsMs(): Partial<Record<Step, number>> {
    const durations: Partial<Record<Step, number>> = {};
    for (const step of stepNames) {
      const us = this[fields[step]];
      if (us > 0) durations[step] = us / 1000;
    }
    return durations;
  }

  private endStep(nowMs: number): void {
    // A small integer, which V8 keeps without allocating. It wraps after 35 minutes, which only streams last.
    const nowUs = ((nowMs - this.startMs) * 1000) | 0;
    this.add(nowUs - this.stepBeginUs);
    this.stepBeginUs = nowUs;
  }

  /** A switch, since V8 looks a property up by a name that varies. */
  private add(us: number): void {
    switch (this.step) {
      case 'authentication':
        this.authenticationUs += us;
        break;
      case 'impersonation':
        this.impersonationUs += us;
        break;
      case 'flowControl':
        this.flowControlUs += us;
        break;
      case 'authorization':
        this.authorizationUs += us;
        break;
      case 'handling':
        this.handlingUs += us;
        break;
      case 'body':
        this.bodyUs += us;
        break;
      case 'decode':
        this.decodeUs += us;
        break;
      case 'admission':
        this.admissionUs += us;
        break;
      case 'cache':
        this.cacheUs += us;
        break;
      case 'store':
        this.storeUs += us;
        break;
      case 'encode':
        this.encodeUs += us;
        break;
      case 'write':
        this.writeUs += us;
        break;
    }
  }
}

const fields = {
  authentication: 'authenticationUs',
  impersonation: 'impersonationUs',
  flowControl: 'flowControlUs',
  authorization: 'authorizationUs',
  handling: 'handlingUs',
  body: 'bodyUs',
  decode: 'decodeUs',
  admission: 'admissionUs',
  cache: 'cacheUs',
  store: 'storeUs',
  encode: 'encodeUs',
  write: 'writeUs',
} as const;
