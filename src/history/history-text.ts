import { stringifyJson } from '../codec/json.js';
import { printable } from '../std/printable.js';
import type { FieldChange } from './field-changes.js';
import type { ObjectRevision, Writer } from './object-history.js';

/** A revision with the user of the audit log, or an empty text. */
interface ToldRevision extends ObjectRevision {
  readonly user: string;
  /** The event of the audit log. */
  readonly audit?: { readonly verb: string; readonly requestReceivedTimestamp: string; readonly auditID: string };
}

const valueLengthMax = 80;

/** Returns lines for people: one for each revision, and one for each field that it changed. */
export function historyText(revisions: readonly ToldRevision[], kind: string): string {
  const heads = revisions.map(headOf);
  const widths = [0, 1, 2].map((column) => heads.reduce((width, head) => Math.max(width, head[column]!.length), 0));
  return revisions
    .map((revision, index) => {
      const head = heads[index]!.map((text, column) => text.padEnd(widths[column] ?? 0));
      const lines = revision.fields.map((change) => `    ${changeText(change, isSecretField(kind, change))}`);
      return [head.join('  ').trimEnd(), ...lines].map((line) => `${printable(line)}\n`).join('');
    })
    .join('');
}

/** Managers have the time to the second. A deletion has none: then it is that of the audit log. */
function headOf({ resourceVersion, time, change, writers, user, audit }: ToldRevision): string[] {
  const by = writers.length > 0 ? [writers.map(writerText).join(', ')] : [];
  if (audit) by.push(`user ${user} (${audit.verb}, audit ${audit.auditID})`);
  const second = audit?.requestReceivedTimestamp.replace(/\.\d+Z$/, 'Z');
  return [resourceVersion, time || second || '-', change, by.join('; ')];
}

function writerText({ manager, operation, subresource }: Writer): string {
  return `${manager} (${operation}${subresource && ` of ${subresource}`})`;
}

/** `data.colour: "blue" → "green"`, `+ data.size: 3`, `- data.shape: "round"` */
export function changeText({ path, before, after }: FieldChange, isHidden = false): string {
  if (isHidden) return `${before === undefined ? '+ ' : after === undefined ? '- ' : ''}${path}: (hidden)`;
  if (before === undefined) return `+ ${path}: ${valueText(after)}`;
  if (after === undefined) return `- ${path}: ${valueText(before)}`;
  return `${path}: ${valueText(before)} → ${valueText(after)}`;
}

function valueText(value: unknown): string {
  const text = stringifyJson(value);
  return text.length > valueLengthMax ? `${text.slice(0, valueLengthMax)}…` : text;
}

/** True for fields of a Secret with its content, which the terminal should not keep. */
export const isSecretField = (kind: string, { path }: FieldChange): boolean =>
  kind === 'Secret' && /^(data|stringData|metadata\.annotations)\b/.test(path);
