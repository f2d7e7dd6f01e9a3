-- camarb's part of WirePlumber 0.5: chooses, for each program that wants one of camarb's cameras, the node that camagent keeps
-- for that program alone. What a doorway and a private node are, ../0.4/camarb.lua says, which does the same for 0.4.
--
-- 0.5 asks its hooks for a target whenever something changes, so that nothing has to be held here: while a program's private
-- node is not there the event ends without a target, and when it appears WirePlumber asks again.

-- 0.4 reads wireplumber.conf.d as well, and ends where a script fails that stands there.
if not SimpleEventHook then return end

local lutils = require("linking-utils")
local log = Log.open_topic("s-camarb")

-- How long a program waits for its private node before it is linked to the doorway, in milliseconds.
local PRIVATE_NODE_TIME = 5000

-- Not local, so that it lives as long as WirePlumber: by the item's id, when it was seen first, and whether that is too long ago.
camarb = {
  default_nodes = Plugin.find("default-nodes-api"),
  metadata = ObjectManager {
    Interest { type = "metadata", Constraint { "metadata.name", "=", "default" } },
  },
  waiting = {},
}

local function targetOf(properties)
  if properties["target.object"] then return "object.serial", properties["target.object"] end
  if properties["node.target"] then return "node.id", properties["node.target"] end
  local default = camarb.default_nodes and camarb.default_nodes:call("get-default-node", "Video/Source")
  if default and default ~= 4294967295 then return "node.id", tostring(default) end
end

-- The doorway that is meant. An item that means another's private node means its doorway: what is shown there is for one
-- program alone.
local function meantDoorway(items, properties)
  local key, value = targetOf(properties)
  if not value or value == "-1" then return nil end
  local name
  for item in items:iterate { type = "SiLinkable", Constraint { "item.node.direction", "=", "output" } } do
    local other = item.properties
    if other[key] == value or other["node.name"] == value then
      name = other["node.camarb.doorway"] == "true" and other["node.name"] or other["node.camarb.camera"]
    end
  end
  return name and items:lookup {
    type = "SiLinkable",
    Constraint { "node.name", "=", name }, Constraint { "node.camarb.doorway", "=", "true" },
  }
end

local function isOverdue(source, item)
  local id = item.id
  if camarb.waiting[id] == nil then
    camarb.waiting[id] = false
    Core.timeout_add(PRIVATE_NODE_TIME, function()
      camarb.waiting[id] = true
      source:call("push-event", "rescan-for-linking", nil, nil)
      return false
    end)
  end
  return camarb.waiting[id]
end

SimpleEventHook {
  name = "linking/find-camarb-target",
  before = { "linking/find-defined-target", "linking/find-filter-target", "linking/find-media-role-target" },
  interests = {
    EventInterest { Constraint { "event.type", "=", "select-target" } },
  },
  execute = function(event)
    local source, items, item, properties, _, target = lutils:unwrap_select_target_event(event)
    if target or properties["media.type"] ~= "Video" or properties["item.node.direction"] ~= "input"
        or properties["item.node.type"] ~= "stream" then
      return
    end
    local private = items:lookup {
      type = "SiLinkable",
      Constraint { "node.camarb.consumer", "=", properties["node.id"] },
    }
    if private then
      log:info(item, "camarb: " .. tostring(properties["node.id"]) .. " has its own node")
      event:set_data("target", private)
      return
    end
    local doorway = meantDoorway(items, properties)
    if not doorway then return end
    if isOverdue(source, item) then
      -- Said here: WirePlumber itself would link it to whichever node it named.
      event:set_data("target", doorway)
    else
      event:stop_processing()
    end
  end,
}:register()

-- By this camagent knows that somebody links programs to their nodes, and tells its user where nobody does.
camarb.metadata:connect("object-added", function(_, metadata)
  metadata:set(0, "camarb.linking", "", "camarb.lua")
end)
camarb.metadata:activate()
