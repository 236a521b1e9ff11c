import type { NamingProfile } from '../config/naming-profile.js';
import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import type { Rng } from '../std/rng.js';
import { SpanExporter } from './span-exporter.js';
import { Tracer } from './tracer.js';
import { readTracingConfiguration } from './tracing-configuration.js';

export interface Tracing {
  readonly tracer: Tracer;
  readonly exporter: SpanExporter;
}

interface Dependencies {
  readonly naming: NamingProfile;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
}

/** Reads --tracing-config-file. Sends nothing before the first spans have ended. */
export function openTracing(file: string, { naming, clock, rng, logger }: Dependencies): Tracing {
  const { url, samplingRate } = readTracingConfiguration(file, naming);
  const exporter = new SpanExporter({ url, clock, logger });
  return { exporter, tracer: new Tracer({ samplingRate, exporter, clock, rng }) };
}
