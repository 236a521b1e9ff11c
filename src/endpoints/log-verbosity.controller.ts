import { All, Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../machinery/api-error.js';
import type { Logger } from '../std/logger.js';
import { answerLogVerbosity } from './log-verbosity.js';

export function logVerbosityController(logger: Logger, isServed: boolean) {
  @Controller()
  class LogVerbosityController {
    @All('debug/flags/v')
    handle(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
      if (!isServed) throw ApiError.noSuchPage();
      return answerLogVerbosity(logger, request, reply);
    }
  }
  return LogVerbosityController;
}
