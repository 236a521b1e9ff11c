import { All, Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { headersFor, sendBytes } from '../answers/answer.js';
import type { ServerMetrics } from '../metrics/server-metrics.js';

/** The only content type of metrics, whatever the client accepts, as in kube-apiserver. */
const contentType = 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores';

/** Serves /metrics and /metrics/slis (service level indicators). */
export function metricsController(metrics: ServerMetrics, slis: ServerMetrics) {
  @Controller()
  class MetricsController {
    @All('metrics')
    all(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
      return send(request, reply, metrics);
    }

    @All('metrics/slis')
    indicators(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
      return send(request, reply, slis);
    }
  }
  return MetricsController;
}

async function send(request: FastifyRequest, reply: FastifyReply, metrics: ServerMetrics): Promise<void> {
  const body = Buffer.from(await metrics.text());
  sendBytes(request, reply, 200, headersFor(request, contentType), body);
}
