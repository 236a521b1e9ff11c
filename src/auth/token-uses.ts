import type { EncodedObject } from '../cache/encoded-object.js';
import type { Clock } from '../std/clock.js';

/**
 * Counts authentications with service account tokens, for metrics. As in kube-apiserver, requests for which the result
 * of their token is cached are not counted.
 */
export class TokenUses {
  /** Tokens of Pods before the time at which they should have been renewed, and after it. */
  valid = 0;
  stale = 0;
  /** Tokens in Secrets: all of them, and those whose signature, Secret and ServiceAccount were verified, by their origin. */
  inSecrets = 0;
  inManualSecrets = 0;
  inGeneratedSecrets = 0;
  /** Tokens in Secrets that are labeled as invalid because they were not used for long. */
  invalidated = 0;

  private readonly listeners = new Set<UseListener>();

  /** Calls the listener for Secrets whose label does not have the day of their use, until the returned function is called. */
  onUnrecordedUse(listener: UseListener): () => void {
    const entry: UseListener = (secret) => listener(secret);
    this.listeners.add(entry);
    return () => void this.listeners.delete(entry);
  }

  secretUsed(
    secret: UsedSecret,
    { labelDomain, clock }: { readonly labelDomain: string; readonly clock: Clock },
  ): void {
    if (this.listeners.size === 0 || isUseRecorded(secret.attributes.labels, labelDomain, clock.now())) return;
    for (const listener of this.listeners) listener(secret);
  }
}

type UseListener = (secret: UsedSecret) => void;

/** A Secret whose token was used, as a cache holds it. */
export type UsedSecret = Pick<EncodedObject, 'attributes'>;

/** The label with the day (UTC) on which the token of a Secret was last used. */
export const lastUsedLabel = (labelDomain: string): string => `${labelDomain}/legacy-token-last-used`;

/** The label that makes the token of a Secret invalid. Controllers set it on long unused Secrets before they delete them. */
export const invalidSinceLabel = (labelDomain: string): string => `${labelDomain}/legacy-token-invalid-since`;

/** As in kube-apiserver, an empty value marks nothing. */
export function isMarkedInvalid({ attributes: { labels } }: UsedSecret, labelDomain: string): boolean {
  return (labels?.[invalidSinceLabel(labelDomain)] ?? '') !== '';
}

type Labels = Readonly<Record<string, string>> | undefined;

/** True if the label has the current day, or the next one, by a server whose clock is ahead. */
export function isUseRecorded(labels: Labels, labelDomain: string, nowMs: number): boolean {
  const day = labels?.[lastUsedLabel(labelDomain)];
  return day === dayOf(nowMs) || day === dayOf(nowMs + dayMs);
}

const dayMs = 86_400_000;

/** `2026-02-28`, in UTC. */
export function dayOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}
