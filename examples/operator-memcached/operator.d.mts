import type { KubeconfigClient } from 'keelson/client';

export function memcachedsPath(namespace: string): string;
export function deploymentsPath(namespace: string): string;
export function reconcile(
  api: KubeconfigClient,
  request: { readonly namespace: string; readonly name: string },
): Promise<void>;
export function startOperator(api: KubeconfigClient, onError?: (error: unknown) => void): () => Promise<void>;
