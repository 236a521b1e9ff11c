import { Module } from '@nestjs/common';
import { BatchGroup } from './batch.group.js';

@Module({ providers: [{ provide: BatchGroup, useFactory: () => new BatchGroup() }] })
export class BatchModule {}
