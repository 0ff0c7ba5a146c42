// <os/log.h>, as far as PyTorch's headers name it.
#pragma once

typedef struct os_log_s* os_log_t;
