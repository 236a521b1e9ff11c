import { createHash } from 'node:crypto';

/** Returns the value of a label that stands for a text, as in kube-apiserver; empty for an empty text. */
export function sha256Label(text: string | Buffer): string {
  return text.length === 0 ? '' : `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
