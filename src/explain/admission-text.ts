import { stringifyJson } from '../codec/json.js';
import { asFields, asItems, asNumber, asText, type Fields } from '../machinery/fields.js';
import type { ExplainedObject } from './explained-admission.js';
import { printable } from '../std/printable.js';

/** Characters of a value that are shown. */
const valueShownMax = 80;

/** Returns the steps as a table, with the policies, webhooks and changes of a step below it. */
export function admissionText({ request, code, explanation }: ExplainedObject): string {
  const answer = asFields(explanation['answer']);
  const isRefused = code >= 400;
  const lines = [`${isRefused ? `refused (${code})` : 'admitted'}: ${request}`];
  if (isRefused) lines.push(`message: ${asText(answer['message'])}`);
  for (const warning of texts(explanation['warnings'])) lines.push(`warning: ${warning}`);
  const steps = asItems(explanation['steps']);
  if (steps.length > 0) {
    const table = [
      ['STEP', 'PLUG-IN', 'OUTCOME', 'MS'],
      ...steps.map((step) => [
        asText(step['step']),
        asText(step['plugin']),
        asText(step['outcome']),
        asNumber(step['milliseconds']).toFixed(2),
      ]),
    ];
    const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column]!.length)));
    const rows = table.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
    lines.push('', rows[0]!);
    for (const [index, step] of steps.entries()) {
      lines.push(rows[index + 1]!, ...detailsOf(step, '  '));
      for (const part of asItems(step['parts'])) lines.push(`  ${partText(part)}`, ...detailsOf(part, '    '));
    }
  }
  return `${lines.map((line) => printable(line.trimEnd())).join('\n')}\n`;
}

function partText(part: Fields): string {
  const member = asText(part['member']);
  const name = `${asText(part['kind'])} ${asText(part['name'])}${member === '' ? '' : ` (${member})`}`;
  const skipped = asText(part['skipped']);
  return `${name}: ${skipped === '' ? asText(part['outcome']) || 'applied' : `not applied, ${skipped}`}`;
}

function detailsOf(effect: Fields, indent: string): string[] {
  const message = asText(effect['message']);
  const lines = message === '' ? [] : [`${indent}${message}`];
  for (const change of asItems(effect['changes'])) {
    const value = change['value'] === undefined ? '' : ` ${short(stringifyJson(change['value']))}`;
    lines.push(`${indent}${asText(change['op'])} ${asText(change['path'])}${value}`);
  }
  if (effect['areChangesCut'] === true) lines.push(`${indent}and more changes`);
  return lines;
}

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(asText) : []);
const short = (text: string): string => (text.length > valueShownMax ? `${text.slice(0, valueShownMax)}…` : text);
