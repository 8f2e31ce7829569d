#pragma once

// Empty: what poppler-cpp has is C++. The module is there for its flags.
