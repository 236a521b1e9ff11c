import { readFileSync } from 'node:fs';
import { parseYamlMapping, type YamlMapping } from '../../config/config-files.js';
import { addValue, type Settings } from '../../config/settings.js';
import { didYouMean } from '../../config/suggestion.js';
import { agentFlags } from './agent-flags.js';

const apiVersion = 'kubelet.config.k8s.io/v1beta1';
const flagOfField = new Map([...agentFlags.values()].flatMap((flag) => (flag.field ? [[flag.field, flag]] : [])));
/** Fields that contain others, such as `authentication.x509`. */
const parents = new Set([...flagOfField.keys()].flatMap(parentsOf));

/** Reads a KubeletConfiguration. Fields that the agent does not have are errors. */
export function readKubeletConfiguration(file: string): Settings {
  const settings: Settings = { values: new Map(), errors: [] };
  try {
    const { apiVersion: version, kind, ...fields }: Configuration = parseYamlMapping(readFileSync(file, 'utf8'));
    if (kind !== 'KubeletConfiguration') settings.errors.push(`${file}: kind must be KubeletConfiguration`);
    if (version !== apiVersion) settings.errors.push(`${file}: apiVersion must be ${apiVersion}`);
    if (settings.errors.length === 0) readFields(settings, file, fields, '');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    settings.errors.push(`--config: ${file} cannot be read: ${reason}`);
  }
  return settings;
}

function readFields(settings: Settings, file: string, fields: YamlMapping, at: string): void {
  for (const [name, value] of Object.entries(fields)) {
    const path = at + name;
    const flag = flagOfField.get(path);
    if (flag) addValue(settings, flag, flagValue(path, value), `${file}: ${path}`);
    else if (!parents.has(path)) {
      const known = [...flagOfField.keys(), ...parents];
      settings.errors.push(`${file}: ${path}: the agent does not have this field${didYouMean(path, known)}`);
    } else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      readFields(settings, file, value as YamlMapping, `${path}.`);
    } else if (value !== null) settings.errors.push(`${file}: ${path}: must be a mapping`);
  }
}

interface Configuration {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
}

interface TaintField {
  readonly key?: string;
  readonly value?: string;
  readonly effect?: string;
}

/** Returns the value of a field as its flag takes it. */
function flagValue(path: string, value: unknown): unknown {
  if (path === 'registerWithTaints') return taintTexts(value);
  return path === 'evictionHard' ? thresholdTexts(value) : value;
}

/** Writes `{ memory.available: 100Mi }` as --eviction-hard takes it. */
function thresholdTexts(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.entries(value)
    .map(([signal, threshold]) => `${signal}<${String(threshold)}`)
    .join(',');
}

/** Writes taints as --register-with-taints takes them. */
function taintTexts(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return (value as unknown[]).map((taint) => {
    if (typeof taint !== 'object' || taint === null) return taint;
    const { key, value: text, effect }: TaintField = taint;
    return `${key}${text === undefined ? '' : `=${text}`}:${effect}`;
  });
}

function parentsOf(path: string): string[] {
  const steps = path.split('.');
  return steps.slice(1).map((_, index) => steps.slice(0, index + 1).join('.'));
}
