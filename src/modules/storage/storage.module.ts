import { Module } from '@nestjs/common';
import { StorageGroup } from './storage.group.js';

@Module({ providers: [{ provide: StorageGroup, useFactory: () => new StorageGroup() }] })
export class StorageModule {}
