import { settingAt } from '../../config/setting-path.js';
import type { Flag } from '../../config/flag.js';
import { agentFlags } from './agent-flags.js';
import type { AgentOptions } from './agent-options.js';

/** Returns the options as a KubeletConfiguration, for /configz: paths of files and names, but nothing that they contain. */
export function configurationOf(options: AgentOptions): Readonly<Record<string, unknown>> {
  const configuration: Record<string, unknown> = {};
  for (const flag of agentFlags.values()) {
    if (flag.field === undefined || flag.key === undefined) continue;
    const value = shown(flag, settingAt(options, flag.key));
    if (value === undefined) continue;
    const steps = flag.field.split('.');
    let at = configuration;
    for (const step of steps.slice(0, -1)) at = (at[step] ??= {}) as Record<string, unknown>;
    at[steps.at(-1)!] = value;
  }
  return configuration;
}

function shown(flag: Flag, value: unknown): unknown {
  if (flag.type !== 'duration' || typeof value !== 'number') return value;
  return `${value / 1_000}s`;
}
