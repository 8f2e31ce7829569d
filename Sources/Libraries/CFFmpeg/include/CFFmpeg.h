#pragma once

// FFmpeg's libraries, and what of them are macros that Swift does not see.

// The types of pictures and packets are CAVCodec's.
#include "../../CAVCodec/shim.h"

#include <libavcodec/bsf.h>
#include <libavcodec/vorbis_parser.h>
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavformat/avformat.h>
#include <libavutil/audio_fifo.h>
#include <libavutil/avutil.h>
#include <libavutil/channel_layout.h>
#include <libavutil/crc.h>
#include <libavutil/display.h>
#include <libavutil/error.h>
#include <libavutil/mathematics.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <libavutil/samplefmt.h>
#include <libswresample/swresample.h>

#ifdef __cplusplus
extern "C" {
#endif

/// AVERROR_EOF, of which the tag is computed.
static const int ffmedia_end = AVERROR_EOF;
/// AVERROR(EAGAIN): more has to be sent, or taken, first.
static const int ffmedia_again = AVERROR(EAGAIN);
static const int ffmedia_no_memory = AVERROR(ENOMEM);
static const int ffmedia_refused = AVERROR(EPERM);
static const int ffmedia_invalid = AVERROR_INVALIDDATA;
static const int ffmedia_no_decoder = AVERROR_DECODER_NOT_FOUND;
static const int ffmedia_not_made = AVERROR_PATCHWELCOME;
/// AV_NOPTS_VALUE.
static const int64_t ffmedia_no_time = INT64_MIN;

/// An errno as these libraries return it.
static inline int ffmedia_error(int code) { return AVERROR(code); }

// Members that FFmpeg 6 and 7 replaced by functions or by other members. FFmpeg 8 lacks some of them.

/// Returns the sample formats of a coder, up to AV_SAMPLE_FMT_NONE. Returns null if it supports any.
const enum AVSampleFormat *ffmedia_sample_formats(const AVCodec *codec);

/// Returns the sample rates of a coder, up to 0. Returns null if it supports any.
const int *ffmedia_sample_rates(const AVCodec *codec);

/// Returns the channel layouts of a coder, up to one without channels. Returns null if it supports any.
const AVChannelLayout *ffmedia_channel_layouts(const AVCodec *codec);

/// Returns a stream's side data of a type, and sets `size`, which may be null. Returns null if there is none.
const uint8_t *ffmedia_stream_data(const AVStream *stream, enum AVPacketSideDataType type, size_t *size);

/// Copies all side data of a stream to another one whose parameters are a copy of that stream's. Returns 0 or an error.
int ffmedia_copy_stream_data(AVStream *copy, const AVStream *original);

/// Returns the duration of a frame, in units of its stream's time base. Returns 0 if it is unknown.
int64_t ffmedia_frame_duration(const AVFrame *frame);

/// Has a container open no other files: what it names is the writer's choice.
void ffmedia_open_nothing(AVFormatContext *container);

#ifdef __cplusplus
}
#endif
