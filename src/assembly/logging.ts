import type { LoggerService } from '@nestjs/common';
import { pino, type DestinationStream } from 'pino';
import type { LogConfig } from '../config/server-config.js';
import type { Logger } from '../std/logger.js';
import { stderrDestination } from './log-destination.js';

/** Debug lines are logged from this `-v` on. */
const debugVerbosity = 4;

/** Creates a logger of JSON lines (a constant message and fields) on stderr. stdout is for the output of commands. */
export function makeLogger(
  { level }: Pick<LogConfig, 'level'>,
  destination: DestinationStream = stderrDestination(),
  /** Fields of every line. */
  base: Readonly<Record<string, unknown>> | null = null,
): Logger {
  const options = { level, base, timestamp: pino.stdTimeFunctions.isoTime, serializers: { error: errorText } };
  const out = pino(options, destination);
  const at = (name: 'debug' | 'info' | 'warn' | 'error') => (message: string, fields?: Record<string, unknown>) =>
    fields === undefined ? out[name](message) : out[name](fields, message);
  return {
    ...{ debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    setVerbosity: (verbosity) => (out.level = verbosity >= debugVerbosity ? 'debug' : level),
  };
}

const programmingErrors: ReadonlySet<string> = new Set(['AssertionError', 'RangeError', 'ReferenceError', 'TypeError']);

/**
 * Returns the text of an error for the log: its message with those of its causes, and the stack of a programming error.
 * Without this serializer pino would write `{}`, since the message of an Error is not enumerable.
 */
function errorText(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const text = programmingErrors.has(error.name) ? (error.stack ?? error.message) : error.message;
  return error.cause instanceof Error ? `${text}; cause: ${String(errorText(error.cause))}` : text;
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
