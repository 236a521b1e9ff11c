import type { Steps } from '../std/steps.js';
import type { Labels, MetricFamily, Sample } from './metric-family.js';
import { helpOf } from './metric-visibility.js';

const samplesPerStep = 500;

/**
 * Writes families in the text format of Prometheus. With hundreds of custom kinds a scrape has 100,000 lines: they are
 * written in steps, and the labels of a histogram series once for all its buckets.
 */
export function* metricsText(families: Iterable<MetricFamily>): Steps<string> {
  let text = '';
  let left = samplesPerStep;
  for (const family of families) {
    text += `# HELP ${family.name} ${escapeHelp(helpOf(family))}\n# TYPE ${family.name} ${family.type}\n`;
    let labels: Labels | undefined;
    let labelsText = '';
    for (const sample of family.samples()) {
      if (sample.labels !== labels) {
        ({ labels } = sample);
        labelsText = textOf(labels);
      }
      text += line(family.name, labelsText, sample);
      if (--left > 0) continue;
      left = samplesPerStep;
      yield;
    }
  }
  return text;
}

function line(name: string, labels: string, { le, suffix, value }: Sample): string {
  const all = le === undefined ? labels : `${labels}${labels && ','}le="${le}"`;
  return `${name}${suffix ?? ''}${all && `{${all}}`} ${numberText(value)}\n`;
}

function textOf(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join();
}

function numberText(value: number): string {
  if (value === Infinity) return '+Inf';
  return value === -Infinity ? '-Inf' : String(value);
}

const escapeHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
const escapeLabel = (text: string): string => (/[\\"\n]/.test(text) ? escapeHelp(text).replaceAll('"', '\\"') : text);
