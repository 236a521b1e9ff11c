import { All, Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { headersFor, sendBytes } from '../answers/answer.js';
import { encodeJson } from '../codec/json.js';
import type { FaultInjector } from '../faults/fault-injector.js';
import { noFaults, parseFaultPlan } from '../faults/fault-plan.js';
import { FaultPlanError } from '../faults/plan-fields.js';
import { ApiError } from '../machinery/api-error.js';
import { readBody } from './request-body.js';

const planBytesMax = 1024 * 1024;

/** GET returns the counts of the fault plan in force, PUT replaces it, DELETE removes it. There is none without --allow-faults. */
export function faultsController(injector: FaultInjector | undefined) {
  @Controller()
  class FaultsController {
    @All('debug/faults')
    async handle(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
      if (!injector) throw ApiError.noSuchPage();
      const { method } = request.raw;
      if (method === 'PUT') injector.setPlan(parsed(await readBody(request, planBytesMax)));
      else if (method === 'DELETE') injector.setPlan(noFaults);
      else if (method !== 'GET') throw ApiError.methodNotAllowed();
      const { seed, clockOffsetMs } = injector.plan;
      const body = encodeJson({ seed, clockOffsetMs, ...injector.counts });
      sendBytes(request, reply, 200, headersFor(request, 'application/json'), body);
    }
  }
  return FaultsController;
}

function parsed(body: Buffer) {
  try {
    return parseFaultPlan(body.toString());
  } catch (error) {
    if (error instanceof FaultPlanError) throw ApiError.badRequest(`the fault plan: ${error.message}`);
    throw error;
  }
}
