import { IsNatural } from './constraints.js';

/** Bounds that are not flags. config/limits.yaml contains the values and their origin. */
export class Limits {
  @IsNatural(1) readonly requestBodyBytesMax!: number;
  @IsNatural(1024) readonly requestHeaderBytesMax!: number;
  @IsNatural(1) readonly requestHeadersMax!: number;
  @IsNatural(1) readonly requestValuesMax!: number;
  @IsNatural(1) readonly jsonPatchOperationsMax!: number;
  @IsNatural(1) readonly http2StreamsPerConnectionMax!: number;
  @IsNatural(1) readonly http2SilenceMsMax!: number;
  @IsNatural(1) readonly http2PingTimeoutMs!: number;
  @IsNatural(1) readonly idleConnectionTimeoutMs!: number;
  @IsNatural(1) readonly headersTimeoutMs!: number;
  @IsNatural(1) readonly tlsHandshakeTimeoutMs!: number;
  @IsNatural(1) readonly unreadBodyTimeoutMs!: number;

  @IsNatural(1) readonly tokenReviewsPendingMax!: number;
  @IsNatural(1) readonly tokenReviewsPendingBytesMax!: number;
  @IsNatural(1) readonly tokenReviewAnswerBytesMax!: number;
  @IsNatural(1) readonly tokenReviewsCachedMax!: number;
  @IsNatural(1) readonly tokenReviewsCachedBytesMax!: number;
  @IsNatural(1) readonly tokenSignerTimeoutMs!: number;
  @IsNatural(1) readonly tokenSignerAnswerBytesMax!: number;

  @IsNatural(1) readonly accessReviewsPendingMax!: number;
  @IsNatural(1) readonly accessReviewsPendingBytesMax!: number;
  @IsNatural(1) readonly accessReviewAnswerBytesMax!: number;
  @IsNatural(1) readonly accessReviewsCachedMax!: number;
  @IsNatural(1) readonly accessReviewsCachedBytesMax!: number;

  @IsNatural(1) readonly admissionReviewAnswerBytesMax!: number;

  @IsNatural(1) readonly agentConnectionsMax!: number;
  @IsNatural(1) readonly agentConnectionsPerAddressMax!: number;

  @IsNatural(1) readonly streamIdleTimeoutMs!: number;

  @IsNatural(1) readonly aggregatedRequestsMax!: number;
  @IsNatural(1) readonly aggregatedDiscoveryBytesMax!: number;
  @IsNatural(1) readonly aggregatedOpenApiBytesMax!: number;
  @IsNatural(1) readonly aggregatedListBytesMax!: number;
  @IsNatural(1) readonly aggregatedCallTimeoutMs!: number;

  @IsNatural(1) readonly auditBufferBytesMax!: number;
  @IsNatural(1) readonly auditWebhookCallsMax!: number;
  @IsNatural() readonly auditCloseTimeoutMs!: number;

  @IsNatural(1) readonly storeRequestTimeoutMs!: number;
  @IsNatural(1) readonly objectWritersWaitingMax!: number;
  @IsNatural(1) readonly objectWriteTurnMsMax!: number;

  @IsNatural() readonly freshnessWaitMsMax!: number;
  @IsNatural() readonly snapshotRetentionMs!: number;
  @IsNatural(1) readonly listChunkBytesMax!: number;
  @IsNatural(1) readonly convertedObjectsBytesMax!: number;
  @IsNatural(1) readonly storePageItems!: number;

  @IsNatural(1) readonly historyEventsPerResourceMax!: number;
  @IsNatural() readonly watchesMax!: number;
  @IsNatural() readonly watchesPerUserMax!: number;
  @IsNatural(1) readonly watchWriteStallTimeoutMs!: number;
  @IsNatural(1) readonly bookmarkIntervalMs!: number;

  @IsNatural() readonly shutdownGraceMs!: number;

  @IsNatural(1) readonly slowRequestMs!: number;
}

/** Limits of earlier versions, which --config files may still contain, with the reason why they have no effect. */
export const formerLimits: ReadonlyMap<string, string> = new Map([
  ['patchAttemptsMax', 'a write that conflicts with others is repeated until its request ends'],
]);
