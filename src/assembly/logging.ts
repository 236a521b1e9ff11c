import type { LoggerService } from '@nestjs/common';
import { pino } from 'pino';
import type { LogConfig } from '../config/server-config.js';
import type { Logger } from '../std/logger.js';

/** Debug lines are logged from this `-v` on. */
const debugVerbosity = 4;

/** Creates a logger of JSON lines on stderr: a constant message and fields. stdout is for the output of commands. */
export function makeLogger({ level }: LogConfig): Logger {
  const out = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination(2));
  const at = (name: 'debug' | 'info' | 'warn' | 'error') => (message: string, fields?: Record<string, unknown>) =>
    fields === undefined ? out[name](message) : out[name](fields, message);
  return {
    ...{ debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    setVerbosity: (verbosity) => (out.level = verbosity >= debugVerbosity ? 'debug' : level),
  };
}

/** Adapts `logger` for Nest. Messages about Nest's own start are logged as debug. */
export function nestLogger(logger: Logger): LoggerService {
  const context = (rest: unknown[]) => ({ context: rest.at(-1) });
  return {
    log: (message: unknown, ...rest: unknown[]) => logger.debug(String(message), context(rest)),
    debug: (message: unknown, ...rest: unknown[]) => logger.debug(String(message), context(rest)),
    verbose: (message: unknown, ...rest: unknown[]) => logger.debug(String(message), context(rest)),
    warn: (message: unknown, ...rest: unknown[]) => logger.warn(String(message), context(rest)),
    error: (message: unknown, ...rest: unknown[]) => logger.error(String(message), context(rest)),
    fatal: (message: unknown, ...rest: unknown[]) => logger.error(String(message), context(rest)),
  };
}
