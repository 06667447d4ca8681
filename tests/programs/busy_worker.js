// SPDX-License-Identifier: Apache-2.0
'use strict';

const { spin } = require('./work');

setInterval(() => spin(40), 60);
