import { All, Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { headersFor, sendBytes } from '../answers/answer.js';
import { dumpPriorityLevels, dumpQueues, dumpRequests } from '../flow/dumps.js';
import type { FlowControl } from '../flow/flow-control.js';
import { ApiError } from '../machinery/api-error.js';
import type { Clock } from '../std/clock.js';

const root = '/debug/api_priority_and_fairness/';

/** Answers the pages that show priority levels, queues and requests. Without priority and fairness there are none. */
export function flowControlController(control: FlowControl | undefined, clock: Clock) {
  @Controller()
  class FlowControlController {
    @All('debug/api_priority_and_fairness/*')
    handle(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
      const text = control && textOf(control, request);
      if (text === undefined) throw ApiError.noSuchPage();
      sendBytes(request, reply, 200, headersFor(request, 'text/plain; charset=utf-8'), Buffer.from(text));
    }
  }

  function textOf(flowControl: FlowControl, { kube }: FastifyRequest): string | undefined {
    const { path, query } = kube.info;
    switch (path.startsWith(root) ? path.slice(root.length) : '') {
      case 'dump_priority_levels':
        return dumpPriorityLevels(flowControl);
      case 'dump_queues':
        return dumpQueues(flowControl);
      case 'dump_requests': {
        const withDetails = (query.first('includeRequestDetails') ?? '') !== '';
        return dumpRequests(flowControl, clock.now() - clock.monotonicMs(), withDetails);
      }
      default:
        return undefined;
    }
  }
  return FlowControlController;
}
