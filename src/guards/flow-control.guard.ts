import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { requestOf } from '../answers/request-of.js';
import { isHttp2Request, type AnyRequest } from '../connections/raw-messages.js';
import type { FlowControl } from '../flow/flow-control.js';
import type { FlowRequest } from '../flow/flow-request.js';
import type { PacedRequest } from '../flow/paced-connections.js';
import type { InflightLimiter } from '../flow/inflight-limiter.js';
import { timeoutOf } from '../hooks/deadline.hook.js';
import { ApiError } from '../machinery/api-error.js';
import { isLongRunning } from '../machinery/request-info.js';
import type { RequestState } from '../answers/request-state.js';

/** A request may wait in its queue for this part of its time. */
const waitFraction = 1 / 4;

interface Options {
  readonly limiter: InflightLimiter;
  /** Undefined with --enable-priority-and-fairness=false. */
  readonly flowControl: FlowControl | undefined;
  readonly requestTimeoutMs: number;
}

/**
 * Lets a request wait until its priority level has seats, or rejects it with 429. Without priority and fairness, requests
 * above the configured number are rejected.
 */
export class FlowControlGuard implements CanActivate {
  constructor(private readonly options: Options) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const { kube, raw } = requestOf(context);
    const { flowControl } = this.options;
    const { info } = kube;
    const isWatch = info.verb === 'watch';
    // Connections to Pods and nodes do their work elsewhere.
    if (!flowControl || (!isWatch && isLongRunning(info))) return this.limit(kube);
    const request = flowControl.admit(info, kube.user);
    kube.flow = request;
    const paced = isWatch ? undefined : pace(flowControl, request, raw);
    if (paced) kube.whenEnded(() => paced.ended());
    if (request.state === 'executing') return isWatch ? this.countWatch(kube, flowControl) : true;
    if (request.state === 'waiting') return this.wait(kube, request, flowControl, hasBody(raw) ? undefined : paced);
    throw rejected(flowControl, request);
  }

  private async wait(
    kube: RequestState,
    request: FlowRequest,
    flowControl: FlowControl,
    paced: PacedRequest | undefined,
  ): Promise<boolean> {
    const { info } = kube;
    const { requestTimeoutMs } = this.options;
    const isWatch = info.verb === 'watch';
    const timeoutMs = isWatch ? requestTimeoutMs : (timeoutOf(info, requestTimeoutMs) ?? requestTimeoutMs);
    const executes = await flowControl.dispatched(request, timeoutMs * waitFraction);
    if (!executes) throw rejected(flowControl, request);
    paced?.began();
    return isWatch ? this.countWatch(kube, flowControl) : true;
  }

  private countWatch(kube: RequestState, { watchCounts }: FlowControl): true {
    this.limit(kube);
    const forget = watchCounts.add(kube.info);
    if (forget) kube.whenEnded(forget);
    return true;
  }

  private limit(kube: RequestState): true {
    const verdict = this.options.limiter.admit(kube.info, kube.user);
    if (!verdict.isAdmitted) throw ApiError.tooManyRequests(verdict.reason, 1);
    if (verdict.release) kube.whenEnded(verdict.release);
    return true;
  }
}

function pace({ pacing }: FlowControl, request: FlowRequest, raw: AnyRequest): PacedRequest | undefined {
  if (!isHttp2Request(raw)) return pacing.pace(request, raw.socket);
  const { session } = raw.stream;
  return session && pacing.paceStream(request, session);
}

function hasBody({ headers }: FastifyRequest['raw']): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

function rejected(flowControl: FlowControl, request: FlowRequest): ApiError {
  return new ApiError({
    reason: 'TooManyRequests',
    message: 'Too many requests, please try again later.',
    plainText: true,
    details: { retryAfterSeconds: flowControl.retryAfter(request) },
  });
}
