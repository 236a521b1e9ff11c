import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { requestOf } from '../answers/request-of.js';
import type { RequestState } from '../answers/request-state.js';
import type { Feed } from '../cache/feed.js';
import { cutAnswer } from '../connections/cut.js';
import type { AnyResponse } from '../connections/raw-messages.js';
import { faultError, namesObject } from '../faults/fault-error.js';
import type { FaultInjector } from '../faults/fault-injector.js';
import { parseFault, type Fault } from '../faults/fault-plan.js';
import { FaultPlanError } from '../faults/plan-fields.js';
import { ApiError } from '../machinery/api-error.js';
import { Query } from '../machinery/query.js';
import type { RequestInfo } from '../machinery/request-info.js';
import { revisionOf } from '../machinery/revision.js';
import { sleep, type Clock, type Timer } from '../std/clock.js';

const header = 'keelson-fault';

interface Options {
  /** Undefined without --allow-faults. */
  readonly injector: FaultInjector | undefined;
  readonly clock: Clock;
  readonly feed: Pick<Feed, 'position' | 'isRetained'>;
}

interface FaultyRequest {
  readonly kube: RequestState;
  /** With the name of the object, if it is known. */
  readonly info: RequestInfo;
  readonly response: AnyResponse;
}

/** Injects the faults of the plan, and of the header Keelson-Fault, into requests for resources. Runs after authorization. */
export class FaultGuard implements CanActivate {
  constructor(private readonly options: Options) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const { kube, raw } = requestOf(context);
    const { injector } = this.options;
    const asked = raw.headers[header];
    if (!injector) {
      if (asked === undefined) return true;
      throw ApiError.badRequest('the header Keelson-Fault needs a server that was started with --allow-faults');
    }
    if (!kube.info.isResourceRequest) return true;
    const { info } = kube;
    const subject = { info, user: kube.user, userAgent: raw.headers['user-agent'] ?? '' };
    const own = asked === undefined ? undefined : headerFault(String(asked));
    if (own) injector.countHeaderFault();
    const response = context.getArgByIndex<FastifyReply>(1).raw;
    const inject = (name: string): true | Promise<true> => {
      const named = name === info.name ? subject : { ...subject, info: { ...info, name } };
      const fault = injector.choose(named);
      return !fault && !own ? true : this.inject({ ...fault, ...own }, { kube, info: named.info, response });
    };
    // Faults that depend on the name of a created object wait until its body was decoded.
    const isUnnamed = info.verb === 'create' && info.name === '';
    if (!isUnnamed || !((own && namesObject(own)) || injector.dependsOnName(subject))) return inject(info.name);
    kube.nameKnown = inject;
    return true;
  }

  private inject(fault: Fault, request: FaultyRequest): true | Promise<true> {
    if (fault.latencyMs === undefined) return this.apply(fault, request);
    return sleep(this.options.clock, fault.latencyMs, request.kube.signal).then(() => this.apply(fault, request));
  }

  private apply(fault: Fault, { kube, info, response }: FaultyRequest): true {
    if (fault.status !== undefined) throw faultError(fault.status, info);
    if (fault.dropAnswer) kube.loseAnswer(() => cutAnswer(response));
    if (info.verb === 'watch') {
      if (fault.endWatchAfterMs !== undefined) this.later(fault.endWatchAfterMs, kube, () => cutAnswer(response));
      if (fault.expireWatchAfterMs !== undefined) this.expire(fault.expireWatchAfterMs, kube);
      if (fault.stallWatchAfterMs !== undefined) this.stall(fault.stallWatchAfterMs, kube);
    }
    if (fault.staleRevisions !== undefined) this.readOlder(fault.staleRevisions, kube);
    return true;
  }

  /** Ends the watch by the ERROR event of a resourceVersion that is too old, so that the client lists again. */
  private expire(delayMs: number, kube: RequestState): void {
    const status = faultError(410, kube.info).toStatus();
    kube.changeWatch((subscribe) => (sink) => {
      const subscription = subscribe(sink);
      if (delayMs === 0) subscription.end(status);
      else this.later(delayMs, kube, () => subscription.end(status));
      return subscription;
    });
  }

  /** Lets the watch accept events, and its end, without sending them. */
  private stall(delayMs: number, kube: RequestState): void {
    let isStalled = delayMs === 0;
    kube.changeWatch(
      (subscribe) => (sink) =>
        subscribe({
          write: (frame) => isStalled || sink.write(frame),
          end: () => {
            if (!isStalled) sink.end();
          },
        }),
    );
    if (!isStalled) this.later(delayMs, kube, () => void (isStalled = true));
  }

  private later(delayMs: number, kube: RequestState, run: () => void): void {
    const timer: Timer = this.options.clock.after(delayMs, run);
    kube.whenEnded(() => timer.cancel());
  }

  /** A list with resourceVersion=0 accepts any state, so it may get an exact older one. */
  private readOlder(revisions: number, kube: RequestState): void {
    const { info } = kube;
    const { query } = info;
    if (info.verb !== 'list' || query.first('resourceVersion') !== '0' || query.has('resourceVersionMatch')) return;
    const { feed } = this.options;
    const older = revisionOf(Math.max(1, feed.position - revisions));
    if (!feed.isRetained(older)) return;
    const raw = query.raw.replace(/(^|&)resourceVersion=0(?=&|$)/, `$1resourceVersion=${older}`);
    kube.info = { ...info, query: new Query(`${raw}&resourceVersionMatch=Exact`) };
  }
}

function headerFault(text: string): Fault {
  try {
    return parseFault(text);
  } catch (error) {
    if (error instanceof FaultPlanError) throw ApiError.badRequest(`the header Keelson-Fault: ${error.message}`);
    throw error;
  }
}
